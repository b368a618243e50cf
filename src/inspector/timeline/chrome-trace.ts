import type {
  RunTimeline,
  RunTimelines,
  TimelineEvent,
} from '../../core/contracts/run-timeline.ts';
import { heldBytes } from './held-bytes.ts';
import { timelineLanes } from './timeline-lanes.ts';

/**
 * A load and runs in Chrome's trace format, which Perfetto opens: each a process, each row of a lane a thread, and the memory
 * that is held a counter.
 */
export function chromeTrace(
  { load, runs }: Pick<RunTimelines, 'load' | 'runs'>,
  device: string,
): string {
  const named = runs.map((run, i) => ({ run, pid: i + 1, name: `Run ${i + 1} on ${device}` }));
  const loaded = load && { run: load, pid: runs.length + 1, name: `Load on ${device}` };
  const events = [...named, ...(loaded ? [loaded] : [])].flatMap(processEvents);
  return JSON.stringify({ displayTimeUnit: 'ms', traceEvents: events });
}

interface TraceProcess {
  readonly run: RunTimeline;
  readonly pid: number;
  readonly name: string;
}

function processEvents({ run, pid, name }: TraceProcess): readonly object[] {
  const events: object[] = [{ ph: 'M', pid, tid: 0, name: 'process_name', args: { name } }];
  let tid = 0;
  for (const { title, rows } of timelineLanes(run)) {
    for (const row of rows) {
      tid++;
      const args = { name: title };
      events.push({ ph: 'M', pid, tid, name: 'thread_name', args });
      events.push({ ph: 'M', pid, tid, name: 'thread_sort_index', args: { sort_index: tid } });
      for (const event of row) events.push({ ...span(event), pid, tid });
    }
  }
  for (const { atMs, bytes } of heldBytes(run.storages)) {
    events.push({ ph: 'C', pid, name: 'memory', ts: atMs * 1000, args: { bytes } });
  }
  return events;
}

function span({ kind, name, beginMs, endMs, at, bytes, work, label }: TimelineEvent): object {
  return {
    ph: 'X',
    cat: kind,
    name,
    ts: beginMs * 1000,
    dur: (endMs - beginMs) * 1000,
    args: { ...at, ...work, ...(bytes !== undefined && { bytes }), ...(label && { label }) },
  };
}
