/** An event of a trace of Chromium, in its JSON format. Times are in microseconds. */
export interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  /** Of `dur`, how long the thread had a core. */
  readonly tdur?: number;
}

/** The thread that made a mark or measure of user timing. */
export function threadOf(events: readonly TraceEvent[], mark: string): string | undefined {
  const found = events.find(({ name }) => name === mark);
  return found && threadKey(found);
}

/**
 * The milliseconds of work of the page's thread in each frame: between two marks, of which each frame makes one whose
 * name begins with `prefix`. All tasks count, by the time for which they had a core: on a machine that does other things
 * too they wait for one. A task that goes on over a mark counts for each frame by its part.
 */
export function frameTimes(events: readonly TraceEvent[], prefix: string): number[] {
  const marks = events.filter(({ name }) => name.startsWith(prefix)).toSorted(byTime);
  const [first] = marks;
  if (first === undefined) return [];
  const thread = threadKey(first);
  const tasks = events
    .filter((event) => event.name === 'RunTask' && event.ph === 'X' && threadKey(event) === thread)
    .toSorted(byTime);
  return marks.slice(1).map((mark, i) => {
    const [begin, end] = [marks[i]?.ts ?? 0, mark.ts];
    let sum = 0;
    for (const { ts, dur = 0, tdur = dur } of tasks) {
      const share = Math.max(0, Math.min(end, ts + dur) - Math.max(begin, ts)) / Math.max(1, dur);
      sum += share * tdur;
    }
    return sum / 1000;
  });
}

const threadKey = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`;

const byTime = (a: TraceEvent, b: TraceEvent): number => a.ts - b.ts;
