import { median } from '../../core/median.ts';
import type {
  RunTimeline,
  TimelineEvent,
  TimelineKind,
} from '../../core/contracts/run-timeline.ts';
import type { Interval } from './intervals.ts';
import { eventsOfKind, LANE_TITLES } from './timeline-lanes.ts';

/**
 * A run whose times are the medians of several. Events of a kind that come in another order, or not in all runs, are those of the run
 * of median length, as pipelines that only the first run compiles.
 */
export function medianRun(runs: readonly RunTimeline[]): RunTimeline | undefined {
  const totalMs = median(runs.map((run) => run.totalMs));
  const middle = runs.find((run) => run.totalMs === totalMs);
  if (middle === undefined) return undefined;
  const events = LANE_TITLES.flatMap(([kind]) => medianOfKind(runs, middle, kind));
  const [first] = runs;
  const isAlike = runs.every(({ storages }) => storages.length === first?.storages.length);
  const storages = isAlike ? medians(runs.map((run) => run.storages)) : middle.storages;
  return {
    ...middle,
    events: events.toSorted((a, b) => a.beginMs - b.beginMs),
    storages,
  };
}

function medianOfKind(
  runs: readonly RunTimeline[],
  middle: RunTimeline,
  kind: TimelineKind,
): readonly TimelineEvent[] {
  const own = eventsOfKind(middle, kind);
  const all = runs.map((run) => eventsOfKind(run, kind));
  const isAlike = all.every(
    (events) =>
      events.length === own.length && events.every(({ name }, i) => name === own[i]?.name),
  );
  return isAlike ? medians([own, ...all.filter((_, i) => runs[i] !== middle)]) : own;
}

/**
 * The first of the lists with the medians of begins and of ends, place by place: what comes one behind the other in all runs does so
 * in their medians.
 */
function medians<T extends Interval>(lists: readonly (readonly T[])[]): readonly T[] {
  const [first = []] = lists;
  return first.map((event, i) => {
    const same = lists.map((list) => list[i] ?? event);
    const [begins, ends] = [same.map(({ beginMs }) => beginMs), same.map(({ endMs }) => endMs)];
    return { ...event, beginMs: median(begins), endMs: median(ends) };
  });
}
