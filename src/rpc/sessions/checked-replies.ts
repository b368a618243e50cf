import type { ControlReply } from '../../worker/protocol/control-request.ts';
import type { DebugReply } from '../../worker/protocol/debug-order.ts';
import type { LoadedSession, ValueInfo } from '../../worker/protocol/loaded-session.ts';
import type { WireProfile } from '../../worker/protocol/run-request.ts';
import type { ToolAnswer, ToolName } from '../../worker/tools/tools.ts';
import {
  anything,
  type Check,
  count,
  listOf,
  number,
  oneOf,
  optional,
  record,
  text,
  unexpected,
} from '../values/checked-values.ts';
import { isRecord } from '../values/rpc-value.ts';
import { codePlace, wireResults } from './checked-values.ts';

// Answers of a server. All throw ProtocolError. What a page only shows is left as it is.

const dimension: Check<number | string> = (value, name) =>
  typeof value === 'string' ? value : number(value, name);

const VALUES = listOf(
  record({ name: text, dtype: text, type: optional(text), shape: listOf(dimension) }),
) as Check<readonly ValueInfo[]>;

export const loadedSession: Check<LoadedSession> = record({
  session: count,
  functions: listOf(record({ name: text, params: VALUES, results: VALUES })),
  device: record({
    kind: oneOf('webgpu', 'wasm', 'host'),
    name: text,
    vendor: text,
    architecture: text,
    adapterClass: text,
    threads: count,
    reason: text,
    fallbackReason: optional(text),
  }),
  placements: listOf(
    record({ node: text, operator: text, device: oneOf('host', 'wasm'), reason: text }),
  ),
});

export const sessionMemory = record({
  constantBytes: number,
  liveBytes: number,
  pooledBytes: number,
  scratchBytes: number,
  peakBytes: number,
  functions: number,
});

export const wireProfile = record({
  results: wireResults,
  kernels: listOf(
    record({
      primitive: text,
      label: text,
      workgroups: listOf(number),
      durationMs: optional(number),
    }),
  ),
  totalMs: number,
  instructions: number,
}) as unknown as Check<WireProfile>;

const debugReply: Check<DebugReply> = (reply, name) => {
  if (!isRecord(reply)) throw unexpected(name);
  const { value } = reply;
  const picture = isRecord(value) ? value['picture'] : undefined;
  if (picture === undefined) return reply;
  const { width, height, rgba } = PICTURE(picture, name);
  if (rgba instanceof Uint8ClampedArray && rgba.length === 4 * width * height) return reply;
  throw unexpected('picture');
};

const PICTURE = record({ width: count, height: count, rgba: anything });

export const controlReply = record({
  calls: listOf(record({ entry: text, at: codePlace, depth: count })),
  results: wireResults,
  note: text,
  answer: optional(anything),
}) as Check<ControlReply>;

/** Answers of tools of a server; those that are not here a page only shows. */
export const TOOL_ANSWERS: { readonly [Name in ToolName]?: Check<ToolAnswer<Name>> } = {
  debug: debugReply,
  listing: text,
};
