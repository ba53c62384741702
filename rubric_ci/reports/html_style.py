"""The style sheet of the HTML report; the filters work by it alone."""

STYLE = """
:root { color-scheme: light dark;
  --ink: #1f2328; --soft: #59636e; --paper: #ffffff; --card: #f6f8fa; --line: #d1d9e0;
  --pass: #1a7f37; --borderline: #9a6700; --fail: #cf222e; --errored: #8250df; --waived: #0969da;
  --skipped: #59636e }
@media (prefers-color-scheme: dark) { :root {
  --ink: #f0f6fc; --soft: #9198a1; --paper: #0d1117; --card: #151b23; --line: #3d444d;
  --pass: #3fb950; --borderline: #d29922; --fail: #f85149; --errored: #ab7df8; --waived: #4493f8;
  --skipped: #9198a1 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 3rem }
header { border-left: .4rem solid var(--tone, var(--line)); padding: .1rem 0 .1rem 1rem }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere }
header p { margin: .2rem 0 0; color: var(--soft) }
h2 { font-size: 1.2rem; margin: 1.5rem 0 .2rem }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem } h4 { margin: .8rem 0 .2rem; font-size: .9rem }
small, .meta, footer { color: var(--soft); font-size: .85rem; font-weight: normal }
.pass { --tone: var(--pass) } .borderline { --tone: var(--borderline) }
.fail { --tone: var(--fail) }
.waived { --tone: var(--waived) }
.errored, .error { --tone: var(--errored) } .skipped { --tone: var(--skipped) }
.badge { display: inline-block; border: 1px solid var(--tone); color: var(--tone);
  border-radius: 1rem; padding: 0 .6rem; font-size: .85rem; white-space: nowrap }
.filters { border: 0; padding: 0; margin: 1.2rem 0 1rem; display: flex; flex-wrap: wrap;
  gap: .5rem }
.filters legend { float: left; padding: .2rem .5rem .2rem 0; color: var(--soft) }
.filters label { border: 1px solid var(--line); border-radius: .4rem; padding: .2rem .7rem;
  color: var(--tone, var(--ink)); cursor: pointer }
.filters label:has(:checked) { background: var(--card); border-color: var(--tone, var(--ink)) }
.filters input { accent-color: var(--tone, var(--ink)) }
.case { border: 1px solid var(--line); border-left: .3rem solid var(--tone); border-radius: .4rem;
  margin: .6rem 0; padding: 0 1rem }
.case > summary { display: flex; flex-wrap: wrap; gap: .2rem .7rem; align-items: baseline;
  padding: .7rem 0; cursor: pointer; overflow-wrap: anywhere }
.case[open] { padding-bottom: 1rem }
.score { font-variant-numeric: tabular-nums; font-weight: 600 }
.reason { color: var(--soft); flex: 1 1 20rem }
.meta { margin: 0; overflow-wrap: anywhere }
table { width: 100%; border-collapse: collapse; margin: .4rem 0; table-layout: fixed }
th, td { text-align: left; vertical-align: top; padding: .5rem .6rem; border: 1px solid var(--line);
  overflow-wrap: anywhere }
th { background: var(--card); font-size: .85rem }
th:nth-child(1) { width: 34% } th:nth-child(2) { width: 9.5rem } th:nth-child(3) { width: 5rem }
td p { margin: .2rem 0 } td, .reasoning { white-space: pre-line }
blockquote { margin: .4rem 0 0; padding-left: .7rem; border-left: .2rem solid var(--line);
  color: var(--soft); white-space: pre-wrap }
pre { background: var(--card); padding: .8rem; border-radius: .4rem; overflow: auto;
  margin: .4rem 0; max-height: 30rem; white-space: pre-wrap; overflow-wrap: anywhere;
  font-size: .85rem }
article { border: 1px solid var(--line); border-left: .3rem solid var(--tone);
  border-radius: .4rem; margin: .6rem 0; padding: .2rem 1rem .6rem; overflow-wrap: anywhere }
article h3 { margin: .5rem 0 .2rem } article h3 small { margin-left: .3rem }
.base > details { margin: .5rem 0 } .base summary { cursor: pointer }
ul { margin: .3rem 0; padding-left: 1.4rem; overflow-wrap: anywhere }
del { color: var(--fail); background: color-mix(in srgb, var(--fail) 12%, transparent) }
ins { color: var(--pass); background: color-mix(in srgb, var(--pass) 12%, transparent) }
footer { margin-top: 2rem; border-top: 1px solid var(--line); padding-top: .8rem;
  overflow-wrap: anywhere }
body:has(#show-pass:checked) .case:not(.pass), body:has(#show-fail:checked) .case:not(.fail),
body:has(#show-borderline:checked) .case:not(.borderline),
body:has(#show-waived:checked) .case:not(.waived),
body:has(#show-errored:checked) .case:not(.errored),
body:has(#show-skipped:checked) .case:not(.skipped) { display: none }
@media (max-width: 40rem) { table, tbody, tr, td { display: block } thead { display: none }
td:nth-child(3)::before { content: "weight " } }
@media print { .filters { display: none } }
"""
