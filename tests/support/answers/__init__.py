"""What the answers of the self-checking exercises equal: by mhalib, or by the definition of what is
asked.

``TRUTH`` holds for each label, question by question, a function of the question's variables; or
(function, relative tolerance), where that is not ``EXACT``; or, for a constant of a proof, which no
instance attains, what the solution says of it.
"""

from answers import kernels, multihead, preconditioning, start

EXACT = 1e-12
TRUTH = multihead.TRUTH | preconditioning.TRUTH | kernels.TRUTH | start.TRUTH
