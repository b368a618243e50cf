import type {
  RunTimeline,
  TimelineEvent,
  TimelineKind,
} from '../../core/contracts/run-timeline.ts';
import type { HostedSession } from '../host/hosted-session.ts';

/** The kind and name, in the timeline, of each span of a load; see {@link LoadRecord}. */
const SPANS: Readonly<Record<string, readonly [kind: TimelineKind, name: string]>> = {
  'program download': ['download', 'program and weights'],
  'program verify': ['verify', 'program'],
  'program compile': ['compile', 'passes'],
  'machine compile': ['compile', 'kernels'],
  'machine upload': ['upload', 'weights'],
};

/** The load of a session, over time; undefined where it was not recorded. */
export function loadTimeline({ loaded, device }: HostedSession): RunTimeline | undefined {
  if (loaded === undefined) return undefined;
  const { beginMs, endMs, spans } = loaded;
  const events: TimelineEvent[] = [];
  const add = (event: TimelineEvent): void => {
    // Sessions share devices: what others compiled before is none of this.
    if (event.endMs < beginMs || event.beginMs > endMs) return;
    const at = (ms: number): number => Math.min(Math.max(ms, beginMs), endMs) - beginMs;
    events.push({ ...event, beginMs: at(event.beginMs), endMs: at(event.endMs) });
  };
  for (const [name, span] of Object.entries(spans)) {
    const known = SPANS[name];
    if (known === undefined) continue;
    const [kind, what] = known;
    const isBytes = kind === 'download' || kind === 'upload';
    const { beginMs: begin, endMs: end, loaded: count } = span;
    add({ kind, name: what, beginMs: begin, endMs: end, ...(isBytes && { bytes: count }) });
  }
  for (const { label, ...times } of device.device.events?.latest ?? []) {
    add({ kind: 'compile', name: label, ...times });
  }
  return {
    totalMs: endMs - beginMs,
    events: events.toSorted((a, b) => a.beginMs - b.beginMs),
    storages: [],
    instructions: 0,
    instructionsLeftOut: 0,
    untimedKernels: 0,
  };
}
