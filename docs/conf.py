"""The manual: Sphinx over the whole repository, so that every page exists once.

Pages link to each other by their paths in the repository, on any host that renders Markdown and
here. `docs/_ext/` writes what is generated: the reference, the commands, the table of papers.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

import generated  # noqa: E402
from sphinx.ext.autodoc.mock import mock  # noqa: E402

import surelearn  # noqa: E402

project = "surelearn"
author = "The surelearn developers"
copyright = f"2026, {author}"
version = release = surelearn.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "generated",
]
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "benchmarks/README.md",
    "experiments/README.md",
    "experiments/**/README.md",
    "experiments/reproduced/*.md",
]
exclude_patterns = ["docs/_build", "docs/_ext", "docs/gallery/*.py.md5"]
language = "en"
smartquotes = False  # options of commands keep their two hyphens
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
# Numbers of list items and headings of generated pages are as their scripts write them.
suppress_warnings = ["myst.header"]

# The pages of surelearn.dask and surelearn.spark need neither: the manual is the same with and
# without them, and reading a docstring takes no Java.
autodoc_mock_imports = ["dask", "distributed", "pyspark"]
with mock(autodoc_mock_imports):
    autosummary_generate = generated.write()  # before Sphinx looks for pages
autosummary_ignore_module_all = False
templates_path = [str(ROOT / "docs" / "_ext")]  # autosummary looks below the root
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # the docstrings name types with shapes
numpydoc_show_class_members = False
numpydoc_validation_checks: set[str] = set()

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": str(ROOT / "docs" / "gallery"),
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(^|/)(?!plot_)[^/]*\.py$",
    "abort_on_example_error": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,  # its page loads scripts from elsewhere
    "min_reported_time": 1,
    "download_all_examples": False,
    "remove_config_comments": True,
    "backreferences_dir": None,
}
# A picture may be made in a thread without a window; the gallery saves it.
warnings.filterwarnings("ignore", message=".*FigureCanvasAgg is non-interactive.*")

html_theme = "pydata_sphinx_theme"
html_title = "surelearn"
html_static_path = ["static"]
html_css_files = ["manual.css"]
html_favicon = "../src/surelearn/label/static/icon.svg"
html_extra_path = ["static/root"]
html_show_sourcelink = False
html_sidebars = {"docs/comparison": []}  # it has no pages below it
html_theme_options = {
    "logo": {"text": "surelearn"},
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_nav_level": 1,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
