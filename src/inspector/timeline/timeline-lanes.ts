import type {
  RunTimeline,
  TimelineEvent,
  TimelineKind,
} from '../../core/contracts/run-timeline.ts';

/** The events of one kind, in rows in which none overlap. */
interface TimelineLane {
  readonly kind: TimelineKind;
  readonly title: string;
  /** The rows, each with its events in the order of their begins. */
  readonly rows: readonly (readonly TimelineEvent[])[];
}

/** From top to bottom: what the program does, what it asks of the device, what that does. */
export const LANE_TITLES: readonly (readonly [kind: TimelineKind, title: string])[] = [
  ['download', 'Downloads'],
  ['verify', 'Checks'],
  ['instruction', 'Instructions'],
  ['compile', 'Compilations'],
  ['upload', 'Uploads'],
  ['copy', 'Copies'],
  ['kernel', 'Kernels'],
  ['readback', 'Readbacks'],
];

/**
 * Rows of a lane at most. Events that overlap in more rows lie above each other in the last one.
 */
export const MOST_ROWS = 8;

/** The lanes of a run; kinds of which there are no events have none. */
export function timelineLanes({ events }: Pick<RunTimeline, 'events'>): readonly TimelineLane[] {
  return LANE_TITLES.flatMap(([kind, title]) => {
    const rows = packRows(eventsOfKind({ events }, kind));
    return rows.length === 0 ? [] : [{ kind, title, rows }];
  });
}

/** The events of one kind, in the order of their begins. */
export const eventsOfKind = (
  { events }: Pick<RunTimeline, 'events'>,
  kind: TimelineKind,
): readonly TimelineEvent[] => events.filter((event) => event.kind === kind);

/** Each into the first row that is free when it begins. */
function packRows(events: readonly TimelineEvent[]): TimelineEvent[][] {
  const rows: TimelineEvent[][] = [];
  for (const event of events) {
    const isFree = (row: readonly TimelineEvent[]): boolean =>
      (row.at(-1)?.endMs ?? 0) <= event.beginMs;
    const row = rows.find(isFree);
    if (row !== undefined) row.push(event);
    else if (rows.length < MOST_ROWS) rows.push([event]);
    else rows[MOST_ROWS - 1]?.push(event);
  }
  return rows;
}
