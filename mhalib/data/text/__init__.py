"""Text: sentences with labels, encoded as word numbers; from a generator, or from the files of a public benchmark."""

from mhalib.data.text.corpus import TextDataset, Vocabulary, from_sentences
from mhalib.data.text.reviews import reviews
from mhalib.data.text.sst2 import sst2
from mhalib.data.text.words import words

__all__ = ["TextDataset", "Vocabulary", "from_sentences", "reviews", "sst2", "words"]
