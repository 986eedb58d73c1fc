"""The quiz of each week of the course (book/start/quizzes.yml): on the page ``quiz`` writes its
fields, which check themselves; kit.py writes it as GIFT, which Moodle imports, and as QTI 2.1,
which other learning platforms do.
"""

import io
import re
import zipfile
from dataclasses import dataclass
from html import escape
from pathlib import Path

import built
import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

QUIZZES = Path(__file__).parents[1] / "start" / "quizzes.yml"


@dataclass(frozen=True)
class Choice:
    """An answer that one may choose, whether it is right, and what is said of it."""

    text: str
    right: bool
    why: str


@dataclass(frozen=True)
class Question:
    """What is asked, the choices, and the part of the book that answers it, such as
    ``2/prop-1-hessian``."""

    ask: str
    choices: tuple[Choice, ...]
    see: str


def questions(k):
    """The five questions of week ``k``; choices stand in the order of the alphabet, so that their
    place tells nothing.

    Raises ValueError for a week without a quiz, or for a question that has not one right answer.
    """
    found = yaml.load(QUIZZES.read_text("utf-8"), yaml.BaseLoader)
    if str(k) not in found:
        raise ValueError(f"quiz: expected the number of a week, 1 to {len(found)}, got {k!r}")
    return [question(entry, k) for entry in found[str(k)]]


def question(entry, k):
    choices = [
        Choice(text, right, why)
        for right, answers in ((True, entry["right"]), (False, entry["wrong"]))
        for text, why in answers.items()
    ]
    if [choice.right for choice in choices].count(True) != 1:
        raise ValueError(f"quiz of week {k}: expected one right answer to {entry['ask']!r}")
    return Question(
        entry["ask"], tuple(sorted(choices, key=lambda choice: choice.text)), entry["see"]
    )


# --- on the page
# ----------------------------------------------------------------------------------------------


class Quiz(SphinxDirective):
    """The questions of a week; what is said of a choice stands there once it is chosen
    (book.css)."""

    required_arguments = 1

    def run(self):
        self.env.note_dependency(str(QUIZZES))
        try:
            found = questions(self.arguments[0])
        except ValueError as error:
            raise self.error(str(error)) from error
        up = "../" * self.env.docname.count("/")
        fields = "".join(
            field(each, f"quiz-{self.arguments[0]}-{number}", up)
            for number, each in enumerate(found, 1)
        )
        files = f"{up}kit/week-{self.arguments[0]}"
        as_files = (
            f'<p>As a file: <a href="{files}/quiz.gift.txt" download>GIFT</a> for Moodle, '
            f'<a href="{files}/quiz-qti.zip" download>QTI 2.1</a> for other platforms.</p>'
        )
        return [nodes.raw("", f'<div class="mha-quiz">{fields}{as_files}</div>', format="html")]


def field(asked, name, up):
    """The fields of one question."""
    number = name.rsplit("-", 1)[1]
    choices = "".join(
        f'<label><input type="radio" name="{name}" value="{k}"> {escape(choice.text)}</label>'
        for k, choice in enumerate(asked.choices)
    )
    said = "".join(
        f"<span>{'<b>Right.</b>' if choice.right else '<b>Not so.</b>'} {escape(choice.why)} "
        f'<a href="{address(asked.see, up)}">Where it stands</a></span>'
        for choice in asked.choices
    )
    return (
        f"<fieldset><legend>{number}. {escape(asked.ask)}</legend>{choices}"
        f'<div class="mha-quiz-said" role="status">{said}</div></fieldset>'
    )


def address(see, up):
    """The link to a part of the book, from a page that lies so far down."""
    page, label = see.split("/")
    target = {"idea": "#", "seen": "#what-we-have-seen"}.get(label, f"#{label}")
    return f"{up}{built.file_of(page)}.html{target}"


# --- for learning platforms
# -----------------------------------------------------------------------------------


def gift(k):
    """The quiz of week ``k`` in Moodle's GIFT format."""
    asked = (
        gift_of(each, f"Week {k}, question {number}") for number, each in enumerate(questions(k), 1)
    )
    return "\n\n".join([f"$CATEGORY: How Attention Learns/Week {k}", *asked]) + "\n"


def gift_of(asked, name):
    lines = [
        f"  {'=' if choice.right else '~'}{plain(choice.text)}#{plain(choice.why)}"
        for choice in asked.choices
    ]
    return "\n".join([f"::{name}::{plain(asked.ask)} {{", *lines, "}"])


def plain(text):
    """Text in which none of GIFT's signs has its meaning."""
    return re.sub(r"([\\~=#{}:])", r"\\\1", text)


SPACE = "http://www.imsglobal.org/xsd/imsqti_v2p1"
ITEM = """<?xml version="1.0" encoding="UTF-8"?>
<assessmentItem xmlns="{space}" identifier="{name}" title="{title}" adaptive="false" timeDependent="false">
  <responseDeclaration identifier="RESPONSE" cardinality="single" baseType="identifier">
    <correctResponse><value>{right}</value></correctResponse>
  </responseDeclaration>
  <outcomeDeclaration identifier="SCORE" cardinality="single" baseType="float"/>
  <outcomeDeclaration identifier="FEEDBACK" cardinality="single" baseType="identifier"/>
  <itemBody>
    <choiceInteraction responseIdentifier="RESPONSE" shuffle="true" maxChoices="1">
      <prompt>{ask}</prompt>
{choices}
    </choiceInteraction>
  </itemBody>
  <responseProcessing>
    <responseCondition>
      <responseIf>
        <match><variable identifier="RESPONSE"/><correct identifier="RESPONSE"/></match>
        <setOutcomeValue identifier="SCORE"><baseValue baseType="float">1</baseValue></setOutcomeValue>
      </responseIf>
      <responseElse>
        <setOutcomeValue identifier="SCORE"><baseValue baseType="float">0</baseValue></setOutcomeValue>
      </responseElse>
    </responseCondition>
    <setOutcomeValue identifier="FEEDBACK"><variable identifier="RESPONSE"/></setOutcomeValue>
  </responseProcessing>
{feedback}
</assessmentItem>
"""
TEST = """<?xml version="1.0" encoding="UTF-8"?>
<assessmentTest xmlns="{space}" identifier="week-{k}" title="How Attention Learns, week {k}">
  <testPart identifier="all" navigationMode="nonlinear" submissionMode="individual">
    <assessmentSection identifier="questions" title="Questions" visible="true">
{items}
    </assessmentSection>
  </testPart>
</assessmentTest>
"""
MANIFEST = """<?xml version="1.0" encoding="UTF-8"?>
<manifest xmlns="http://www.imsglobal.org/xsd/imscp_v1p1" identifier="how-attention-learns-week-{k}">
  <metadata><schema>QTIv2.1 Package</schema><schemaversion>1.0.0</schemaversion></metadata>
  <organizations/>
  <resources>
    <resource identifier="week-{k}" type="imsqti_test_xmlv2p1" href="week-{k}.xml">
      <file href="week-{k}.xml"/>
{needed}
    </resource>
{resources}
  </resources>
</manifest>
"""


def qti_items(k):
    """The questions of week ``k`` as items of QTI 2.1: name → XML."""
    return {
        f"week-{k}-question-{number}": qti_of(asked, f"week-{k}-question-{number}")
        for number, asked in enumerate(questions(k), 1)
    }


def qti_of(asked, name):
    keys = [f"CHOICE_{letter}" for letter in "ABCD"]
    named = list(zip(keys, asked.choices, strict=False))
    choices = "\n".join(
        f'      <simpleChoice identifier="{key}">{escape(choice.text)}</simpleChoice>'
        for key, choice in named
    )
    feedback = "\n".join(
        f'  <modalFeedback outcomeIdentifier="FEEDBACK" identifier="{key}" showHide="show">'
        f"{escape(choice.why)}</modalFeedback>"
        for key, choice in named
    )
    right = next(key for key, choice in named if choice.right)
    return ITEM.format(
        space=SPACE,
        name=name,
        title=escape(asked.ask),
        right=right,
        ask=escape(asked.ask),
        choices=choices,
        feedback=feedback,
    )


def qti(k):
    """The quiz of week ``k`` as a QTI 2.1 package, a zip with a manifest; the same bytes whenever
    it is made."""
    items = qti_items(k)
    resources = "\n".join(
        f'    <resource identifier="{name}" type="imsqti_item_xmlv2p1" href="{name}.xml">'
        f'<file href="{name}.xml"/></resource>'
        for name in items
    )
    needed = "\n".join(f'      <dependency identifierref="{name}"/>' for name in items)
    named = "\n".join(
        f'      <assessmentItemRef identifier="{name}" href="{name}.xml"/>' for name in items
    )
    files = {
        "imsmanifest.xml": MANIFEST.format(k=k, resources=resources, needed=needed),
        f"week-{k}.xml": TEST.format(space=SPACE, k=k, items=named),
    }
    files |= {f"{name}.xml": text for name, text in items.items()}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    return packed.getvalue()


def setup(app):
    app.add_directive("quiz", Quiz)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
