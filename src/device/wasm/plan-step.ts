import { dtypeInfo, type DType, elementByteLength } from '../../core/tensor/dtype.ts';
import { elementCount, rowMajorStrides } from '../../core/tensor/shape.ts';
import type { Operator } from '../../ops/operator.ts';
import type { WasmCall, WasmKernel } from '../../ops/lowering/wasm-lowering.ts';
import { findLowering } from '../../ops/tables/wasm.ts';
import {
  type Local,
  local,
  type Expression,
  type LoadWidth,
  type StoreWidth,
} from '../../wasm/expression.ts';
import {
  byteLengthOf,
  type CallStep,
  type ChainStep,
  type HostStep,
  type PlannedCall,
} from '../host/host-plan.ts';
import { isPlannedChain, planChain } from './plan-chain.ts';
import {
  newUnitRange,
  type StepAccess,
  type StepContext,
  type StepPlan,
  type ValueAccess,
} from './step-plan.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { CoordinateMap, IndexSource } from '../../ops/define-op.ts';
import { fillElements } from '../../ops/elements.ts';
import { analyzeIndexMap } from '../../ops/index-expression/index-map-layout.ts';
import { IndexLowering } from '../../ops/index-expression/lower-index.ts';
import { lesser, plus, times } from '../../wasm/address.ts';
import { increment, loop, set, type Statement, store, when } from '../../wasm/statement.ts';
import * as w from '../../wasm/expression.ts';

/** How elements of a size are moved as they are. */
const MOVES: Readonly<Record<number, { readonly load: LoadWidth; readonly store: StoreWidth }>> = {
  1: { load: 'i8_u', store: 'i8' },
  2: { load: 'i16_u', store: 'i16' },
  4: { load: 'i32', store: 'i32' },
  8: { load: 'i64', store: 'i64' },
};

/**
 * Moves elements as an index map says: runs of them where the last axes pass through, else one by one.
 * Undefined for fills of floats that are encoded in ways of their own.
 */
function mapKernel(map: CoordinateMap, call: WasmCall): WasmKernel | undefined {
  const { inputs, output } = call;
  const types = inputs.map((type) => type ?? output);
  if (types.some(({ dtype }) => dtypeInfo(dtype).byteLength < 1)) return undefined;
  const layout = analyzeIndexMap(map, { ...call, inputs: types });
  const byteLength = elementByteLength(output.dtype);
  const move = MOVES[byteLength];
  const fill = fillPattern(output.dtype, map.fill?.(call.attributes) ?? 0);
  if (move === undefined || fill === undefined) return undefined;
  const isUnread = layout.values.some(
    (node) => node.kind === 'element' && !isIndex(types[node.input]?.dtype),
  );
  if (isUnread) return undefined;
  const outer = output.shape.slice(0, output.shape.length - layout.trailingAxes);
  const run = layout.trailingAxes === 0 ? 1 : layout.innerSize;
  const [outermostSize = 1] = outer;
  return {
    units: outermostSize,
    body({ inputs: places, output: target, units }) {
      if (elementCount(output.shape) === 0) return [];
      const coordinates = output.shape.map((_, axis) =>
        axis < outer.length ? w.local('i32') : w.i32(0),
      );
      const to = w.local('i32');
      const statements: Statement[] = [];
      const outermost = new IndexLowering({
        coordinates,
        statements,
        element: (node, at) => {
          const [place, type] = [places[node.input], types[node.input]];
          if (place === undefined || type === undefined) return w.i32(0);
          const { byteLength } = dtypeInfo(type.dtype);
          const strides = rowMajorStrides(type.shape);
          const address = addressOf(place, { at, strides, byteLength });
          return byteLength === 4 ? w.load('i32', address) : readWideIndex(address, statements);
        },
      });
      const moveFrom = (source: IndexSource, lowering: IndexLowering): Statement[] => {
        const place = places[source.input];
        if (place === undefined) return [];
        const strides = rowMajorStrides(types[source.input]?.shape ?? []);
        const before = statements.length;
        const at = source.coords.map((node) => lowering.lower(node));
        const made = statements.splice(before);
        const from = addressOf(place, { at, strides, byteLength });
        return [...made, ...copyRun({ from, to, run, byteLength })];
      };
      const filled = fillRun({ to, run, byteLength, fill });
      // The first source that holds gives the elements: conditions nest.
      const choose = (
        [source, ...rest]: readonly IndexSource[],
        lowering: IndexLowering,
      ): Statement[] => {
        if (source === undefined) return filled;
        if (source.when === undefined) return moveFrom(source, lowering);
        const before = statements.length;
        const condition = lowering.lower(source.when);
        const made = statements.splice(before);
        const [taken, others] = [lowering.fork(), lowering.fork()];
        return [...made, ...when(condition, moveFrom(source, taken), choose(rest, others))];
      };
      const body = [...choose(layout.sources, outermost), increment(to, run * byteLength)];
      const indices = coordinates.slice(0, outer.length);
      const rangeOf = (axis: number) =>
        axis === 0 ? { begin: units.first, end: units.end } : { end: w.i32(outer[axis] ?? 1) };
      const nest = indices.reduceRight<Statement[]>(
        (inner, index, axis) =>
          index.kind === 'local' ? loop({ index, ...rangeOf(axis) }, inner) : inner,
        body,
      );
      const perUnit = (elementCount(output.shape) / outermostSize) * byteLength;
      return [set(to, plus(target, times(units.first, perUnit))), ...nest];
    },
  };
}

/** Bytes that a unit of a copy moves. */
const COPIED_BYTES = 2 ** 14;

/** The elements in the order that they have. */
function copyKernel({ output: { dtype, shape } }: WasmCall): WasmKernel | undefined {
  const byteLength = elementByteLength(dtype);
  if (MOVES[byteLength] === undefined) return undefined;
  const count = elementCount(shape);
  const run = COPIED_BYTES / byteLength;
  const blocks = Math.floor(count / run);
  const left = count % run;
  return {
    units: blocks + (left > 0 ? 1 : 0),
    body: ({ inputs: [from], output, units: { first, end } }) => {
      if (from === undefined) return [];
      const [block, to] = w.locals(2);
      const copyBlock = (length: number): Statement[] => [
        set(to, plus(output, times(block, COPIED_BYTES))),
        ...copyRun({ from: plus(from, times(block, COPIED_BYTES)), to, run: length, byteLength }),
      ];
      return [
        ...(blocks === 0
          ? []
          : loop({ index: block, begin: first, end: lesser(end, blocks) }, copyBlock(run))),
        ...(left === 0
          ? []
          : when(w.apply('i32.gt_s', end, w.i32(blocks)), [
              set(block, w.i32(blocks)),
              ...copyBlock(left),
            ])),
      ];
    },
  };
}

const isIndex = (dtype: DType | undefined): boolean =>
  dtype === 'int32' || dtype === 'uint32' || dtype === 'int64';

/** The int64 at an address, saturated to an i32. */
function readWideIndex(address: Expression, statements: Statement[]): Expression {
  const wide = w.local('i64');
  const raised = w.local('i64');
  const [least, most] = [w.i64(-(2n ** 31n)), w.i64(2n ** 31n - 1n)];
  statements.push(
    set(wide, w.load('i64', address)),
    set(raised, w.select(w.apply('i64.lt_s', wide, least), least, wide)),
  );
  const clamped = w.select(w.apply('i64.gt_s', raised, most), most, raised);
  return w.apply('i32.wrap_i64', clamped);
}

interface Elements {
  readonly at: readonly Expression[];
  readonly strides: readonly number[];
  readonly byteLength: number;
}

function addressOf(base: Local, { at, strides, byteLength }: Elements): Expression {
  return at.reduce<Expression>(
    (sum, coordinate, axis) =>
      w.apply(
        'i32.add',
        sum,
        w.apply('i32.mul', coordinate, w.i32((strides[axis] ?? 0) * byteLength)),
      ),
    base,
  );
}

interface Run {
  readonly to: Local;
  readonly run: number;
  readonly byteLength: number;
}

/** Copies a run of elements that lie next to each other. */
function copyRun({ from, to, run, byteLength }: Run & { readonly from: Expression }): Statement[] {
  const move = MOVES[byteLength];
  if (move === undefined) return [];
  if (run === 1) return [store(move.store, { address: to }, w.load(move.load, from))];
  const [source, offset] = w.locals(2);
  const bytes = run * byteLength;
  const vectors = bytes - (bytes % 16);
  const [read, written] = [w.apply('i32.add', source, offset), w.apply('i32.add', to, offset)];
  return [
    set(source, from),
    ...loop({ index: offset, end: w.i32(vectors), step: 16 }, [
      store('v128', { address: written }, w.load('v128', read)),
    ]),
    ...Array.from({ length: (bytes % 16) / byteLength }, (_, i) => {
      const at = vectors + i * byteLength;
      return store(move.store, { address: to, offset: at }, w.load(move.load, source, at));
    }),
  ];
}

/** Writes the same element to a run. */
function fillRun({ to, run, byteLength, fill }: Run & { readonly fill: bigint }): Statement[] {
  const move = MOVES[byteLength];
  if (move === undefined) return [];
  const value: Expression = byteLength === 8 ? w.i64(fill) : w.i32(Number(BigInt.asIntN(32, fill)));
  const offset = w.local('i32');
  const written = w.apply('i32.add', to, offset);
  return loop({ index: offset, end: w.i32(run * byteLength), step: byteLength }, [
    store(move.store, { address: written }, value),
  ]);
}

/** The bits of a number as an element, as references fill it in; undefined for floats that are encoded in other ways. */
function fillPattern(dtype: DType, value: number): bigint | undefined {
  if (Object.is(value, 0)) return 0n;
  const isEncoded = dtypeInfo(dtype).category === 'float' && !/^float(16|32|64)$/.test(dtype);
  if (isEncoded) return undefined;
  const element = HostTensor.zeros(dtype, [1]);
  fillElements(element, value);
  return element.bytes.reduceRight((pattern, byte) => (pattern << 8n) | BigInt(byte), 0n);
}

/** The loop nest of a step; undefined for one that references do. Pure. */
export function planStep(step: HostStep, context: StepContext): StepPlan | undefined {
  const chain = asChain(step);
  return chain ? planChain(chain, context) : planCall(step as CallStep, context);
}

/** Returns true if {@link planStep} can plan the step. A lowering says so by making a kernel. */
export function isPlanned(step: HostStep, context: StepContext): boolean {
  const chain = asChain(step);
  if (chain) return isPlannedChain(chain, context);
  return kernelOfStep(step as CallStep, context) !== undefined;
}

/** References do elementwise calls of 64-bit integers one by one. */
function asChain(step: HostStep): ChainStep | undefined {
  if (step.kind === 'chain') return step;
  const { call, label } = step;
  return call.op.kind === 'elementwise' ? { kind: 'chain', label, calls: [call] } : undefined;
}

function kernelOf({ name, indexMap }: Operator, call: WasmCall): WasmKernel | undefined {
  const kernel = findLowering(name)?.(call);
  if (kernel !== undefined || indexMap === undefined) return kernel;
  return indexMap.keepsOrder === true ? copyKernel(call) : mapKernel(indexMap, call);
}

function kernelOfStep(
  { call }: CallStep,
  { types, precision, multipliesBytes = false }: StepContext,
): WasmKernel | undefined {
  const output = types[call.value];
  const inputs = call.inputs.map((value) => (value < 0 ? undefined : types[value]));
  const { op, attributes } = call;
  return output && kernelOf(op, { inputs, output, attributes, precision, multipliesBytes });
}

function planCall(step: CallStep, context: StepContext): StepPlan | undefined {
  const { call } = step;
  const output = context.types[call.value];
  const kernel = kernelOfStep(step, context);
  if (kernel === undefined || output === undefined) return undefined;
  const { packs = [], scratch = [], units = 1, functions = [] } = kernel;
  // A value that is read twice is one parameter.
  const values = [...new Set([...call.inputs.filter((value) => value >= 0), call.value])];
  const places = new Map(values.map((value): [number, Local] => [value, local('i32')]));
  const place = places.get(call.value);
  if (place === undefined) return undefined;
  const packed = packs.map(() => local('i32'));
  const temporaries = scratch.map(() => local('i32'));
  const range = newUnitRange();
  const body = kernel.body({
    inputs: call.inputs.map((value) => places.get(value)),
    output: place,
    packed,
    scratch: temporaries,
    units: range,
  });
  return {
    values,
    packs: packs.map(({ operand, ...pack }) => ({ ...pack, value: call.inputs[operand] ?? -1 })),
    scratch,
    params: [...places.values(), ...packed, ...temporaries, range.first, range.end],
    units,
    work: kernel.work ?? elementCount(output.shape),
    functions,
    body,
    access: accessOf(kernel, call, { types: context.types, values }),
  };
}

function accessOf(
  { writes, packs = [], unitInputs = [] }: WasmKernel,
  { inputs, value: result }: PlannedCall,
  { types, values }: Pick<StepContext, 'types'> & Pick<StepPlan, 'values'>,
): StepAccess | undefined {
  const dtype = types[result]?.dtype;
  if (writes === undefined || dtype === undefined) return undefined;
  const accessTo = (value: number): ValueAccess => {
    const operands = inputs.flatMap((input, i) => (input === value ? [i] : []));
    const packed = operands.map((operand) => packs.findIndex((pack) => pack.operand === operand));
    const [only = -1, ...others] = operands;
    return {
      byteLength: byteLengthOf(types[value]),
      unitByteLength: others.length === 0 ? unitInputs[only] : undefined,
      packs: operands.length === 0 || packed.includes(-1) ? undefined : packed,
    };
  };
  return {
    writes,
    elementByteLength: dtypeInfo(dtype).byteLength,
    output: values.indexOf(result),
    values: values.map(accessTo),
  };
}
