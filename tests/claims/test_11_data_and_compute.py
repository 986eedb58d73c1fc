"""What the page preconditioning/11_data_and_compute says, held against what its cells leave."""

import numpy as np

import mhalib as mha
from mhabook.c09_tilting.statements import exponent, mean_excess
from mhabook.c11_data_and_compute import scaling
from mhabook.c11_data_and_compute import statements as theory
from page import Page

page = Page("preconditioning/11_data_and_compute")


# --- it falls, and then it stays -------------------------------------------------------------------------------


def settled(floors):
    """The instances for which there is a floor constant."""
    return [name for name in floors if "∞" not in name]
