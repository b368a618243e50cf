import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Change, makeChange } from './change.ts';

/** A change as a reviewer would plant it. `find` is in the file exactly once. */
interface HandMade {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** What goes wrong by it. */
  readonly effect: string;
}

/** The first six were noticed by no test when they were planted first. */
export const HAND_MADE: readonly HandMade[] = [
  {
    file: 'src/device/overwritten-input.ts',
    find: '.length === 1',
    replace: '.length >= 1',
    effect: 'an input that a kernel reads twice is overwritten in place',
  },
  {
    file: 'src/core/tensor/tensor-difference.ts',
    find: 'if (Object.is(a, b) || a === b) return 0;',
    replace: 'if (Object.is(a, b) || a === b || Number.isNaN(a - b)) return 0;',
    effect: 'compare and verify call NaN equal to any number',
  },
  {
    file: 'src/frontend/quantize/round-activations.ts',
    find: '>= 2 ** 31',
    replace: '>= 2 ** 41',
    effect: 'a bias wraps as int32',
  },
  {
    file: 'src/wasm/for-parts.ts',
    find: 'i32.gt_s',
    replace: 'i32.ge_s',
    effect: 'two threads compute the last part (may mean the same)',
  },
  {
    file: 'src/frontend/decoders/files/tokenizer/end-tokens.ts',
    find: '[ids.eos, ids.eot, ids.eom]',
    replace: '[ids.eos, ids.eot]',
    effect: 'a text does not stop after the call of a tool',
  },
  {
    file: 'src/text/grammar/schema/compile-string.ts',
    find: 'lower[1] >= lower[0]',
    replace: 'lower[1] > lower[0]',
    effect: 'exclusiveMinimum beside an equal minimum allows it',
  },
  {
    file: 'src/bytecode/verify/verify-flow.ts',
    find: 'if (slots > available) {',
    replace: 'if (slots > available + 1) {',
    effect: 'a program may use one slot more than its shape heap has',
  },
  {
    file: 'src/bytecode/file/varint.ts',
    find: 'value > 0xffff_ffff || (byte === 0 && factor > 1)',
    replace: 'value > 0xffff_ffff',
    effect: 'one number has several spellings in a file',
  },
  {
    file: 'src/runtime/allocator/pooled-allocator.ts',
    find: '!except.includes(buffer) && buffer.isRefused !== true',
    replace: '!except.includes(buffer)',
    effect: 'kernels get memory that the driver refused',
  },
  {
    file: 'src/runtime/values/value.ts',
    find: 'node.count?.give(fields.length + 1);',
    replace: 'node.count?.give(fields.length);',
    effect: 'the limit on fields fills up with values that are gone',
  },
  {
    file: 'src/compiler/passes/liveness.ts',
    find: 'return type.fields.length > 0;',
    replace: 'return false;',
    effect: 'a tuple holds its tensors until the function ends',
  },
  {
    file: 'src/compiler/passes/fuse/partition.ts',
    find: 'return anchors.size === 1 && this.#hasEqualSizes(region);',
    replace: 'return anchors.size === 1;',
    effect: 'what broadcasts the result of an anchor becomes part of its kernel',
  },
  {
    file: 'src/compiler/passes/plan-memory/overwrites.ts',
    find: "op.kind !== 'elementwise' && op.indexMap?.keepsOrder !== true",
    replace: "op.kind !== 'elementwise' && op.kind !== 'injective'",
    effect: 'a result overwrites an operand that is still read at other places',
  },
  {
    file: 'src/compiler/passes/simplify.ts',
    find: "int8: ['int16', 'int32', 'int64'],",
    replace: "int8: ['int16', 'int32', 'int64', 'uint16'],",
    effect: 'int8 by way of uint16 to int32 keeps its sign',
  },
  {
    file: 'src/compiler/passes/to-graph.ts',
    find: 'if (effects.of(expr.value)) visit',
    replace: 'if (effects.of(expr.value) && names.givenBy(expr).length > 0) visit',
    effect: 'a call with effects goes as dead code where nothing reads its result',
  },
  {
    file: 'src/compiler/training/optimizers.ts',
    find: 'graph.less(graph.scalar(1, step.dtype), step)',
    replace: 'graph.less(graph.scalar(0, step.dtype), step)',
    effect: 'momentum dampens the first gradient too',
  },
  {
    file: 'src/device/webgpu/memory/param-arena.ts',
    find: 'this.#context.flush();',
    replace: '',
    effect: 'parameters are overwritten that recorded launches still read',
  },
  {
    file: 'src/device/wasm/memory/wasm-memory.ts',
    find: 'end: begin + rounded(byteLength) });',
    replace: 'end: begin + byteLength });',
    effect: 'the bytes that fill up a buffer are never used again',
  },
  {
    file: 'src/ops/elementwise/elementwise-binary.ts',
    find: 'f.and(f.notEqual(rest, 0), differs)',
    replace: 'differs',
    effect: '4 mod -2 is -2',
  },
  {
    file: 'src/ops/reduction/reduction.adjoint.ts',
    find: 'graph.div(dy, count), 0',
    replace: 'graph.mul(dy, graph.div(count, count)), 0',
    effect: 'each of several equal maxima gets the whole derivative',
  },
  {
    file: 'shaders/row-norm.wgsl',
    find: 'let first = load_x(start);',
    replace: 'let first = 0.0;',
    effect: 'rows of large equal numbers lose their precision',
  },
  {
    file: 'src/tasks/ocr/page-reader.ts',
    find: 'before = best;',
    replace: 'if (best !== 0) before = best;',
    effect: 'a letter that stands twice is read once',
  },
  {
    file: 'src/client/values/bind-inputs.ts',
    find: 'Object.hasOwn(inputs, param.name) ? inputs[param.name] : undefined',
    replace: 'inputs[param.name]',
    effect: 'an input named constructor or toString is never missing',
  },
  {
    file: 'src/worker/sharing/admission.ts',
    find: 'session.isResident && !session.isPinned',
    replace: 'session.isResident',
    effect: 'pinned weights leave the device',
  },
  {
    file: 'src/rpc/connection.ts',
    find: 'Math.min(this.#tokens + earned, this.#perSecond * BURST_SECONDS)',
    replace: 'this.#tokens + earned',
    effect: 'a connection that rests saves up calls without end',
  },
  {
    file: 'src/snapshots/snapshot-slots.ts',
    find: '(await this.#commits()).reverse()',
    replace: 'await this.#commits()',
    effect: 'clearing that is cut short leaves the older snapshot',
  },
  {
    file: 'src/downloads/remote-reader.ts',
    find: 'loaded += chunk.byteLength;\n        failures = 0;',
    replace: 'loaded += chunk.byteLength;',
    effect: 'a long download ends with its fifth break, however far apart they are',
  },
  {
    file: 'src/program/runners/least-recent.ts',
    find: 'this.#values.delete(key);',
    replace: '',
    effect: 'the oldest program goes, though it was used last',
  },
  {
    file: 'src/inspector/memory/memory-panel.ts',
    find: 'other.last >= first',
    replace: 'other.last > first',
    effect: 'storages of one instruction are drawn over each other',
  },
  {
    file: 'src/cli/files/npy.ts',
    find: "order === 'True' && shape.length > 1",
    replace: "order === 'True' && shape.length > 2",
    effect: 'a matrix in Fortran order is read transposed',
  },
];

/** Throws for one whose `find` is not in its file exactly once. */
export function handMadeChange(root: string, made: HandMade): Change {
  const { file, find, replace: text, effect } = made;
  const source = readFileSync(join(root, file), 'utf8');
  const places = source.split(find).length - 1;
  if (places !== 1) {
    throw new Error(
      `tools/mutants/hand-made.ts: ${file} has ${JSON.stringify(find)} ${places} times, expected once. Write what is there now.`,
    );
  }
  const start = source.indexOf(find);
  return makeChange({ file, start, end: start + find.length, text, kind: 'by hand', effect });
}
