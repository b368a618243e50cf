import type { RunTimeline, TimelineEvent } from '../../worker/protocol.ts';
import { heldBytes } from './held-bytes.ts';
import { timelineLanes } from './timeline-lanes.ts';

/**
 * Runs in Chrome's trace format, which Perfetto opens: each run a process, each row of a lane a thread, and the memory that
 * is held a counter.
 */
export function chromeTrace(runs: readonly RunTimeline[], device: string): string {
  const events = runs.flatMap((run, i) => runEvents(run, i + 1, device));
  return JSON.stringify({ displayTimeUnit: 'ms', traceEvents: events });
}

function runEvents(run: RunTimeline, pid: number, device: string): readonly object[] {
  const name = `Run ${pid} on ${device}`;
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
