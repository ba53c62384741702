"""The style sheet of the history page, in addition to the base style of the HTML report."""

from typing import Final

STYLE: Final = """
:root { --waived: #0969da; --score: #0969da; --rate: #1a7f37 }
@media (prefers-color-scheme: dark) { :root { --waived: #4493f8; --score: #4493f8;
  --rate: #3fb950 } }
.waived { --tone: var(--waived) } .absent { --tone: var(--paper) }
.score { --tone: var(--score) } .rate { --tone: var(--rate) }
h2 { font-size: 1.15rem; margin: 2rem 0 .3rem }
p.note { margin: .2rem 0 .6rem; color: var(--soft) }
.key { display: inline-block; width: .8rem; height: .8rem; border-radius: .15rem;
  background: var(--tone); vertical-align: -.08rem; margin-right: .3rem }
.keys .score { font-weight: normal }
.keys { display: flex; flex-wrap: wrap; gap: .1rem 1rem; color: var(--soft); font-size: .85rem;
  margin: .3rem 0 }
.plot { display: flex; gap: .5rem; height: 13rem } .plot.low { height: 6rem }
.plot svg { flex: 1; min-width: 0; height: 100%; overflow: visible }
.y { display: flex; flex-direction: column; justify-content: space-between; text-align: right;
  width: 3.2rem; font-size: .8rem; line-height: 1; color: var(--soft);
  font-variant-numeric: tabular-nums }
.x { display: flex; justify-content: space-between; margin: .4rem 0 0 3.7rem; font-size: .8rem;
  color: var(--soft) }
path { vector-effect: non-scaling-stroke; fill: none }
.grid { stroke: var(--line); stroke-width: 1 }
.line { stroke: var(--tone); stroke-width: 2; stroke-linejoin: round }
.line.rate { stroke-dasharray: 5 3 }
.band { fill: var(--tone); opacity: .14; stroke: none }
.dots { stroke: var(--tone); stroke-width: 6; stroke-linecap: round }
.bar { fill: var(--soft); stroke: none }
.mark { stroke: var(--borderline); stroke-width: 1.5; stroke-dasharray: 2 3 }
rect { fill: transparent } rect:hover { fill: var(--line); opacity: .5 }
.runs td:nth-child(n), .runs th:nth-child(n) { width: auto }
.runs td { white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
.strips { margin: .6rem 0 }
.strip { display: grid; grid-template-columns: minmax(0, 22rem) minmax(0, 1fr); gap: 0 1rem;
  align-items: center; border-top: 1px solid var(--line); padding: .35rem 0 }
.strip b { overflow-wrap: anywhere; font-weight: 600 }
.strip small { display: block; overflow-wrap: anywhere }
.strip svg { width: 100%; height: 1.1rem; border-radius: .15rem }
.strip path { vector-effect: none; stroke: var(--tone); stroke-width: 1 }
a { color: inherit } .strip a { text-decoration-color: var(--soft) }
@media (max-width: 40rem) { .strip { grid-template-columns: minmax(0, 1fr); gap: .25rem }
.plot { height: 10rem } .runs td { display: inline-block; border: 0; padding: 0 .8rem 0 0 }
.runs tr { border-top: 1px solid var(--line); padding: .4rem 0 }
.runs td:nth-child(3)::before { content: "score " }
.runs td:nth-child(4)::before { content: "pass " } }
"""
