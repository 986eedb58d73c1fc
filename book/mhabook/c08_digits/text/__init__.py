"""Text: sentences with labels, encoded as word numbers; from a generator, or your own."""

from mhabook.c08_digits.text.corpus import TextDataset, Vocabulary, from_sentences
from mhabook.c08_digits.text.reviews import reviews
from mhabook.c08_digits.text.words import words

__all__ = ["TextDataset", "Vocabulary", "from_sentences", "reviews", "words"]
