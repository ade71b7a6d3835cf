// Equations are written in the pages between \( \) and \[ \]; KaTeX, which lies beside this file, draws them.
document.addEventListener("DOMContentLoaded", () => {
  for (const part of document.querySelectorAll(".arithmatex")) {
    renderMathInElement(part, {
      delimiters: [{left: "\\(", right: "\\)", display: false}, {left: "\\[", right: "\\]", display: true}],
      throwOnError: false,
    });
  }
  // The theme's search is a dialogue without a name.
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  // What can be scrolled must be reachable by the keyboard.
  for (const part of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) part.tabIndex = 0;
  for (const drawing of document.querySelectorAll(".katex-display")) drawing.tabIndex = 0;
});
