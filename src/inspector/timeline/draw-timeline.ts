import { formatBytes } from '../../core/format-quantity.ts';
import type { TimelineEvent, TimelineKind } from '../../core/contracts/run-timeline.ts';
import {
  AXIS_HEIGHT,
  type EventPlace,
  firstEndingAfter,
  MEMORY_HEIGHT,
  ROW_HEIGHT,
  TITLE_HEIGHT,
  type TimelineScene,
} from './timeline-scene.ts';

export const TIMELINE_COLOURS = [
  'surface',
  'sunken',
  'ink',
  'muted',
  'line',
  'accent',
  'accent-soft',
  'on-accent',
  'heat',
  'bad',
  'good',
  'font',
] as const;
type TimelineColours = Readonly<Record<(typeof TIMELINE_COLOURS)[number], string>>;

/** The stretch of time in sight. */
export interface TimeWindow {
  readonly beginMs: number;
  readonly endMs: number;
}

interface DrawTimelineOptions {
  readonly colours: TimelineColours;
  readonly width: number;
  readonly window: TimeWindow;
  readonly selected: EventPlace | undefined;
}

/** The colour of each kind of event; instructions that call kernels are darker than others. */
const FILL: Readonly<Record<TimelineKind, (typeof TIMELINE_COLOURS)[number]>> = {
  download: 'heat',
  verify: 'line',
  instruction: 'line',
  compile: 'bad',
  upload: 'good',
  copy: 'good',
  kernel: 'accent',
  readback: 'heat',
};
const LEAST_TEXT_WIDTH = 28;
const TICK_WIDTH = 90;
const PADDING = 4;

/** Draws what is seen of a run. Returns how many events that were. */
export function drawTimeline(
  context: CanvasRenderingContext2D,
  scene: TimelineScene,
  options: DrawTimelineOptions,
): number {
  const { colours, width } = options;
  context.fillStyle = colours.surface;
  context.fillRect(0, 0, width, scene.height);
  context.textBaseline = 'middle';
  context.font = `11px ${colours.font}`;
  drawAxis(context, scene, options);
  context.fillStyle = colours.muted;
  for (const { title, top } of scene.lanes)
    context.fillText(title, PADDING, top + TITLE_HEIGHT / 2);
  let drawn = 0;
  for (const row of scene.rows.keys()) drawn += drawRow(context, scene, { ...options, row });
  drawMemory(context, scene, options);
  return drawn;
}

/** Pixels from the left for a moment. */
const scaleOf = ({ window: { beginMs, endMs }, width }: DrawTimelineOptions) => {
  const scale = width / Math.max(endMs - beginMs, 1e-9);
  return (ms: number): number => (ms - beginMs) * scale;
};

function drawAxis(
  context: CanvasRenderingContext2D,
  scene: TimelineScene,
  options: DrawTimelineOptions,
): void {
  const { colours, width, window } = options;
  const x = scaleOf(options);
  const step = tickStep(((window.endMs - window.beginMs) * TICK_WIDTH) / width);
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  for (let tick = Math.ceil(window.beginMs / step); tick * step <= window.endMs; tick++) {
    const left = Math.round(x(tick * step));
    context.fillStyle = colours.sunken;
    context.fillRect(left, AXIS_HEIGHT, 1, scene.height);
    context.fillStyle = colours.muted;
    context.fillText(`${(tick * step).toFixed(digits)} ms`, left + PADDING, AXIS_HEIGHT / 2);
  }
}

/** The least of 1, 2, 5, 10, 20, … that is as large. */
export function tickStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5].find((factor) => factor * power >= least) ?? 10) * power;
}

function drawRow(
  context: CanvasRenderingContext2D,
  scene: TimelineScene,
  options: DrawTimelineOptions & { readonly row: number },
): number {
  const { colours, window, selected, row, width } = options;
  const placed = scene.rows[row];
  if (placed === undefined) return 0;
  const { events, top } = placed;
  const x = scaleOf(options);
  let drawn = 0;
  let painted = Number.NEGATIVE_INFINITY;
  const chosen = selected?.row === row ? selected.index : -1;
  for (let i = firstEndingAfter(placed, window.beginMs); i < events.length; i++) {
    const event = events[i] as TimelineEvent;
    if (event.beginMs > window.endMs) break;
    const [left, right] = [Math.max(x(event.beginMs), -1), Math.min(x(event.endMs), width + 1)];
    // Of many in one column of pixels one is enough, unless it is looked for.
    if (right < painted && i !== chosen) continue;
    const end = Math.max(right, left + 1);
    painted = left + 1;
    drawn++;
    context.fillStyle = fillOf(event, colours);
    context.fillRect(left, top, Math.max(end - left - (end - left > 3 ? 1 : 0), 1), ROW_HEIGHT - 2);
    if (end - left >= LEAST_TEXT_WIDTH) drawText(context, { event, left, end, top, colours });
  }
  const event = events[chosen];
  if (event !== undefined) {
    context.strokeStyle = colours.ink;
    context.lineWidth = 2;
    const [left, right] = [x(event.beginMs), x(event.endMs)];
    context.strokeRect(left - 1, top, Math.max(right - left, 2) + 2, ROW_HEIGHT - 2);
  }
  return drawn;
}

function fillOf({ kind, isKernelCall }: TimelineEvent, colours: TimelineColours): string {
  return isKernelCall === true ? colours.muted : colours[FILL[kind]];
}

interface DrawnText {
  readonly event: TimelineEvent;
  readonly left: number;
  readonly end: number;
  readonly top: number;
  readonly colours: TimelineColours;
}

function drawText(
  context: CanvasRenderingContext2D,
  { event, left, end, top, colours }: DrawnText,
): void {
  const begin = Math.max(left, 0) + PADDING;
  context.save();
  context.beginPath();
  context.rect(begin, top, end - begin - PADDING, ROW_HEIGHT);
  context.clip();
  const isPale = event.kind === 'instruction' && event.isKernelCall !== true;
  context.fillStyle = isPale ? colours.ink : colours['on-accent'];
  context.fillText(textOf(event), begin, top + ROW_HEIGHT / 2 - 1);
  context.restore();
}

function textOf({ kind, name, bytes }: TimelineEvent): string {
  if (bytes !== undefined) return formatBytes(bytes);
  return kind === 'instruction' ? name.replace(/^vm\.builtin\./, '') : name;
}

/** The most that is held in each column of pixels. */
function drawMemory(
  context: CanvasRenderingContext2D,
  { held, peakBytes, memoryTop, totalMs }: TimelineScene,
  options: DrawTimelineOptions,
): void {
  if (peakBytes === 0) return;
  const { colours, width } = options;
  const x = scaleOf(options);
  const bottom = memoryTop + MEMORY_HEIGHT;
  context.fillStyle = colours['accent-soft'];
  for (const [i, { atMs, bytes }] of held.entries()) {
    const [left, right] = [x(atMs), x(held[i + 1]?.atMs ?? totalMs)];
    if (right < 0 || left > width || bytes === 0) continue;
    const height = (bytes / peakBytes) * MEMORY_HEIGHT;
    context.fillRect(left, bottom - height, Math.max(right - left, 1), height);
  }
  context.fillStyle = colours.line;
  context.fillRect(0, bottom, width, 1);
  context.fillStyle = colours.muted;
  context.fillText(`at most ${formatBytes(peakBytes)}`, 60, memoryTop - TITLE_HEIGHT / 2);
}
