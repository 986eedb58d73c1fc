"""Text: sentences with labels, encoded as word numbers; from a generator, or your own."""

from mhalib.data.text.corpus import TextDataset, Vocabulary, from_sentences
from mhalib.data.text.reviews import reviews
from mhalib.data.text.words import words

__all__ = ["TextDataset", "Vocabulary", "from_sentences", "reviews", "words"]
