import type { DeviceRates, LaunchAmount } from '../../core/contracts/device-rates.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type {
  RunTimeline,
  RunTimelines,
  TimelineEvent,
  TimelineKind,
} from '../../core/contracts/run-timeline.ts';
import { withinRunTime } from '../../core/async/within-run-time.ts';
import type { KernelTiming } from '../../device/device.ts';
import { KERNEL_OPS } from '../../ops/tables/kernel-ops.ts';
import type { HostInput } from '../../runtime/link/host-function.ts';
import {
  type RecordedCall,
  type RecordedInstruction,
  type RecordedRun,
  recordRun,
} from '../../runtime/timeline/record-run.ts';
import { measuredRates } from '../auto/measured-rates.ts';
import { PlaceStore } from '../auto/place-store.ts';
import { launchWork } from '../auto/program-work.ts';
import type { HostedSession } from '../host/hosted-session.ts';
import type { Tool, ToolContext } from './tool.ts';

/** The kind and name, in the timeline, of each span of a load; see {@link LoadRecord}. */
const SPANS: Readonly<Record<string, readonly [kind: TimelineKind, name: string]>> = {
  'program download': ['download', 'program and weights'],
  'program verify': ['verify', 'program'],
  'program compile': ['compile', 'passes'],
  'machine compile': ['compile', 'kernels'],
  'machine upload': ['upload', 'weights'],
};

/** The load of a session, over time; undefined where it was not recorded. */
function loadTimeline({ loaded, device }: HostedSession): RunTimeline | undefined {
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

export interface TimelineRequest {
  readonly functionName: string;
  readonly runs: number;
}

/** Runs a function of a session several times, and tells what took how long. Nothing else uses the device meanwhile. */
export const openTool =
  (hosted: HostedSession): Tool<TimelineRequest, ToolContext, RunTimelines> =>
  async (request, context) => ({ answer: await timelines(hosted, request, context) });

async function timelines(
  hosted: HostedSession,
  { functionName, runs: count }: TimelineRequest,
  { signal, ...context }: ToolContext,
): Promise<RunTimelines> {
  await hosted.shared?.hold(signal);
  const { machine, device: shared } = hosted;
  const { kind } = shared.device;
  const inputs = uploadedInputs(context);
  const work = new WorkOfCalls();
  return shared.exclude(async () => {
    const rates = await ratesOf(hosted);
    const runs: RunTimeline[] = [];
    for (let i = 0; i < count; i++) {
      const record = (ended: AbortSignal): Promise<RecordedRun> =>
        recordRun(machine, {
          functionName,
          inputs,
          signal: ended,
          deliver: (result) => hosted.deliver({ functionName, keep: 'host' }, result),
        });
      runs.push(toTimeline(await withinRunTime(record, signal, hosted), work));
    }
    return { device: kind, rates, runs, load: loadTimeline(hosted) };
  }, signal);
}

/** Tensors that came with the request are uploaded by each run, as by runs of the page. */
function uploadedInputs({
  wires,
  inputs,
}: Pick<ToolContext, 'wires' | 'inputs'>): readonly HostInput[] {
  return inputs.map((input, i) => {
    const wire = wires[i];
    return wire?.kind === 'tensor' ? new HostTensor(wire.dtype, wire.shape, wire.data) : input;
  });
}

async function ratesOf({ device: shared }: HostedSession): Promise<DeviceRates | undefined> {
  const { kind } = shared.device;
  // The references of the host are no measure of anything.
  if (kind === 'host') return undefined;
  return measuredRates(shared.device, { store: await PlaceStore.of(shared), kind });
}

/** The work of calls of kernels, which is found once for the same sizes. */
class WorkOfCalls {
  readonly #known = new Map<string, LaunchAmount | undefined>();

  of({ primitive, inputs, results }: RecordedCall): LaunchAmount | undefined {
    const sizes = { inputs, results: results.map(({ shape }) => shape) };
    const key = JSON.stringify([primitive.name, sizes]);
    if (!this.#known.has(key)) this.#known.set(key, launchWork(primitive, KERNEL_OPS, sizes));
    return this.#known.get(key);
  }
}

function toTimeline(run: RecordedRun, work: WorkOfCalls): RunTimeline {
  const { beginMs, endMs, instructions, executed, launches, storages } = run;
  const totalMs = endMs - beginMs;
  /** A time on the clock of the run; an event that outlasts the run is cut at its end. */
  const at = (ms: number): number => Math.min(Math.max(ms - beginMs, 0), totalMs);
  const since = <T extends { readonly beginMs: number; readonly endMs: number }>(event: T): T => ({
    ...event,
    beginMs: at(event.beginMs),
    endMs: at(event.endMs),
  });
  const kernels = launches.flatMap(kernelEvent);
  const events = [
    ...instructions.map((each) => instructionEvent(each, work)),
    ...run.events,
    ...kernels,
  ];
  return {
    totalMs,
    events: events.map(since).toSorted((a, b) => a.beginMs - b.beginMs),
    storages: storages.map(since),
    instructions: executed,
    instructionsLeftOut: executed - instructions.length,
    untimedKernels: launches.length - kernels.length,
  };
}

function instructionEvent(
  { name, at, beginMs, endMs, call }: RecordedInstruction,
  work: WorkOfCalls,
): TimelineEvent {
  const event = { kind: 'instruction', name, at, beginMs, endMs } as const;
  return call === undefined ? event : { ...event, isKernelCall: true, work: work.of(call) };
}

/** None where it is not known when it began. */
function kernelEvent({ primitive, label, beginMs, durationMs }: KernelTiming): TimelineEvent[] {
  if (beginMs === undefined || durationMs === undefined) return [];
  return [{ kind: 'kernel', name: primitive, label, beginMs, endMs: beginMs + durationMs }];
}
