"""Questions of chapter 17: what the laboratory shows."""

from mhabook.exercises.questions.question import Question, rounded

LABORATORY = {
    "ex-17-warm-up": (
        rounded(
            "The largest loss of experiment 1, without warm-up",
            "33.7",
            (
                'laboratory.experiments["edge"] holds the settings of experiment 1.',
                'laboratory.path(**laboratory.experiments["edge"]).loss.max()',
            ),
        ),
        rounded(
            "The largest loss with warm-up",
            "2.38",
            ("Choose the schedule warm-up and leave the rest.", 'Add schedule="warmup" to the settings.'),
            slips=(("33.7", "This is the run without warm-up."),),
        ),
    ),
    "ex-17-edge": (
        rounded(
            "2/λ at the start",
            "1.089",
            (
                "λ is the largest eigenvalue of the Hessian; a panel shows it.",
                'mha.landscape.spectrum(laboratory.path(steps=100)[0], laboratory.run()["data"]).values[-1]',
            ),
            slips=(("1.836", "This is λ itself."),),
            digits=3,
        ),
        Question(
            "The first step size of the slider at which the loss rises somewhere",
            "2",
            (),
            ("Start from 0.5 and go up.", "It lies above 2/λ."),
            slips=(("1", "At 1 the loss still falls at every recorded step."),),
        ),
    ),
    "ex-17-unknowns": (
        Question(
            "The least D of the slider with a positive σ_min(B), for almost every start",
            "32",
            (),
            (
                "B has a row for each token of each sample, and HD columns.",
                "Eight samples of four tokens and one head.",
            ),
            slips=(
                ("24", "There are more rows than columns: the rank is below the number of rows."),
                ("48", "One entry of the slider is smaller and enough."),
            ),
        ),
    ),
}
