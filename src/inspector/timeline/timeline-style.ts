/** The style of the view *Timeline*, beside that of the inspector. */
export const TIMELINE_STYLE = /* css */ `
.timeline { flex: 1; min-inline-size: 0; overflow: auto; background: var(--weft-surface); }
.timeline .toolbar { padding: 8px 12px; }
.timeline .toolbar [type="number"] { inline-size: 5em; }
.timeline [role="status"] { margin: 0; padding: 0 12px 6px; min-block-size: 26px; overflow-wrap: anywhere; }
.timeline [role="status"][data-bad] { color: var(--weft-bad); white-space: pre-wrap; }
.timeline-drawing { touch-action: pan-y; border-block: 1px solid var(--weft-line); }
.timeline-facts { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 4px 24px; padding: 8px 12px; }
.timeline-facts > section { min-inline-size: 0; }
.timeline h3 { margin-block: 8px 4px; }
.timeline .advice { margin: 0; padding-inline-start: 18px; }
.timeline .advice li { margin-block-end: 6px; }
.timeline .holders { list-style: none; margin: 0; padding: 0; }
.timeline .holders button { inline-size: 100%; text-align: start; border-color: transparent; padding: 1px 6px; min-block-size: 24px; overflow-wrap: anywhere; }
.timeline .kernels { overflow-x: auto; padding: 0 12px 12px; }
.timeline .kernels th, .timeline .kernels td { white-space: nowrap; }
.timeline .kernels td:nth-child(n + 2):nth-child(-n + 8), .timeline .kernels th:nth-child(n + 2):nth-child(-n + 8) { text-align: end; font-variant-numeric: tabular-nums; }
@container (max-width: 640px) {
  .timeline-facts { grid-template-columns: minmax(0, 1fr); }
}
`;
