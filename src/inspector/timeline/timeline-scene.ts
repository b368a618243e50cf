import type { RunTimeline, TimelineEvent } from '../../core/contracts/run-timeline.ts';
import { type HeldBytes, heldBytes } from './held-bytes.ts';
import { MOST_ROWS, timelineLanes } from './timeline-lanes.ts';

export const AXIS_HEIGHT = 20;
export const TITLE_HEIGHT = 16;
export const ROW_HEIGHT = 18;
const LANE_GAP = 4;
export const MEMORY_HEIGHT = 44;

/** A row of a lane where it is drawn. */
interface PlacedRow {
  readonly events: readonly TimelineEvent[];
  /** True if no events of the row overlap, so that they can be searched by their ends. */
  readonly areApart: boolean;
  readonly top: number;
}

interface PlacedLane {
  readonly title: string;
  readonly top: number;
}

export interface EventPlace {
  readonly row: number;
  readonly index: number;
}

/** The places of a run's events in the drawing, from top to bottom. */
export class TimelineScene {
  readonly rows: readonly PlacedRow[];
  readonly lanes: readonly PlacedLane[];
  readonly held: readonly HeldBytes[];
  readonly peakBytes: number;
  /** The y at which the drawing of the memory begins. */
  readonly memoryTop: number;
  readonly height: number;
  readonly totalMs: number;

  constructor(run: RunTimeline) {
    const rows: PlacedRow[] = [];
    const lanes: PlacedLane[] = [];
    let top = AXIS_HEIGHT;
    for (const lane of timelineLanes(run)) {
      lanes.push({ title: lane.title, top });
      top += TITLE_HEIGHT;
      for (const [i, events] of lane.rows.entries()) {
        rows.push({ events, areApart: i < MOST_ROWS - 1, top });
        top += ROW_HEIGHT;
      }
      top += LANE_GAP;
    }
    this.rows = rows;
    this.held = heldBytes(run.storages);
    this.peakBytes = this.held.reduce((most, { bytes }) => Math.max(most, bytes), 0);
    lanes.push({ title: 'Memory', top });
    this.lanes = lanes;
    this.memoryTop = top + TITLE_HEIGHT;
    this.height = this.memoryTop + MEMORY_HEIGHT + LANE_GAP;
    this.totalMs = Math.max(run.totalMs, 1e-6);
  }

  /** The event at a place, and within some milliseconds of it the nearest. */
  eventAt(y: number, ms: number, withinMs: number): EventPlace | undefined {
    const row = this.rows.findIndex(({ top }) => y >= top && y < top + ROW_HEIGHT);
    const placed = this.rows[row];
    if (placed === undefined) return undefined;
    const { events } = placed;
    let best: { readonly index: number; readonly distance: number } | undefined;
    for (let index = firstEndingAfter(placed, ms - withinMs); index < events.length; index++) {
      const { beginMs, endMs } = events[index] as TimelineEvent;
      if (beginMs > ms + withinMs) break;
      const distance = Math.max(beginMs - ms, ms - endMs, 0);
      if (distance <= withinMs && distance < (best?.distance ?? Infinity))
        best = { index, distance };
    }
    return best && { row, index: best.index };
  }

  event({ row, index }: EventPlace): TimelineEvent | undefined {
    return this.rows[row]?.events[index];
  }

  /** The next event in its row, or the one of another row that is nearest in time. */
  beside(place: EventPlace | undefined, byX: number, byY: number): EventPlace | undefined {
    const event = place && this.event(place);
    if (place === undefined || event === undefined) return this.rows.length > 0 ? FIRST : undefined;
    if (byX !== 0) {
      const next = { row: place.row, index: place.index + byX };
      return this.event(next) === undefined ? place : next;
    }
    const row = place.row + byY;
    const placed = this.rows[row];
    if (placed === undefined) return place;
    const index = Math.min(firstEndingAfter(placed, event.beginMs), placed.events.length - 1);
    return { row, index };
  }

  /** The place of an event in the drawing; undefined for one of another run. */
  placeOf(wanted: TimelineEvent): EventPlace | undefined {
    for (const [row, { events }] of this.rows.entries()) {
      const index = events.indexOf(wanted);
      if (index >= 0) return { row, index };
    }
    return undefined;
  }
}

const FIRST: EventPlace = { row: 0, index: 0 };

/** From this event of a row on something ends behind a moment: the first one, where they are apart. */
export function firstEndingAfter({ events, areApart }: PlacedRow, ms: number): number {
  if (!areApart) return 0;
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((events[middle]?.endMs ?? 0) < ms) low = middle + 1;
    else high = middle;
  }
  return low;
}
