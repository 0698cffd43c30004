"""Data sets whose process, and so the plausibility of any row, is known; and the real coffees of the paper."""

from countarfactuals.datasets.coffee import COFFEE_CHARACTERISTICS, CoffeeSet, load_coffee
from countarfactuals.datasets.illustrative import Cassini, ThreeBlobs, TwoSines
from countarfactuals.datasets.loan import LoanProcess, load_loan
from countarfactuals.datasets.networks import BayesianNetwork, Node
from countarfactuals.datasets.paper import PaperSet, load_paper_set
from countarfactuals.datasets.plane import Strand, Strands, random_plane
from countarfactuals.datasets.process import Dataset, Process, read_process, write_process
from countarfactuals.datasets.random_network import random_learnable_network, random_network

__all__ = [
    "COFFEE_CHARACTERISTICS",
    "BayesianNetwork",
    "Cassini",
    "CoffeeSet",
    "Dataset",
    "LoanProcess",
    "Node",
    "PaperSet",
    "Process",
    "Strand",
    "Strands",
    "ThreeBlobs",
    "TwoSines",
    "load_coffee",
    "load_loan",
    "load_paper_set",
    "random_learnable_network",
    "random_network",
    "random_plane",
    "read_process",
    "write_process",
]
