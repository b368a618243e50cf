import type { DType } from '../../core/tensor/dtype.ts';
import type { ConcreteTensorType } from '../../core/contracts/primitive-function.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { i32, type Local, local, locals } from '../../wasm/expression.ts';
import { byFours } from '../../wasm/for-parts.ts';
import { call, set, type Statement, type WasmFunction, when } from '../../wasm/statement.ts';
import { elementAccess } from './element-access.ts';
import type { WasmCall, WasmKernel, WasmLowering, WasmPlaces } from './wasm-lowering.ts';

/** A kernel within another: it does all of its units, and packs what it has to in temporary memory. */
interface InnerKernel {
  readonly functions: readonly WasmFunction[];
  readonly scratch: readonly number[];
  /** Packs one operand, or all. */
  pack(places: InnerPlaces, operand?: number): readonly Statement[];
  /** Runs the kernel on operands that are packed. */
  run(places: InnerPlaces): readonly Statement[];
}

type InnerPlaces = Pick<WasmPlaces, 'inputs' | 'output' | 'scratch'>;

/** The kernel with other names for its functions, beside which another one may be. */
export function innerKernel(kernel: WasmKernel, prefix: string): InnerKernel {
  const { packs: all = [], units = 1 } = kernel;
  const packs = all.filter(({ isOptional }) => isOptional !== true);
  const named = (functions: readonly WasmFunction[], name: string): WasmFunction[] =>
    functions.map((fn) => ({ ...fn, name: name + fn.name, body: withCalls(fn.body, name) }));
  return {
    functions: [
      ...packs.flatMap(({ functions }, i) => named(functions, `${prefix}pack${i}_`)),
      ...named(kernel.functions ?? [], prefix),
    ],
    scratch: [...packs.map(({ byteLength }) => byteLength), ...(kernel.scratch ?? [])],
    pack: ({ inputs, scratch }, wanted) =>
      packs.flatMap(({ operand, functions }, i) => {
        const [from, to, last] = [inputs[operand], scratch[i], functions.at(-1)];
        if (!(from && to && last) || (wanted !== undefined && operand !== wanted)) return [];
        return [call(`${prefix}pack${i}_${last.name}`, [from, to])];
      }),
    run({ inputs, output, scratch }) {
      const range = { first: local('i32'), end: local('i32') };
      const places = {
        inputs,
        output,
        packed: all.map((pack) => scratch[packs.indexOf(pack)]),
        scratch: scratch.slice(packs.length),
        units: range,
      };
      return [
        set(range.first, i32(0)),
        set(range.end, i32(units)),
        ...withCalls(kernel.body(places), prefix),
      ];
    },
  };
}

function withCalls(statements: readonly Statement[], prefix: string): Statement[] {
  return statements.map((statement) => {
    switch (statement.kind) {
      case 'call':
        return { ...statement, name: prefix + statement.name };
      case 'loop':
        return { ...statement, body: withCalls(statement.body, prefix) };
      case 'if':
        return {
          ...statement,
          whenTrue: withCalls(statement.whenTrue, prefix),
          whenFalse: withCalls(statement.whenFalse, prefix),
        };
      default:
        return statement;
    }
  });
}

/** A lowering for calls whose operands and result are all float32. */
export const ofFloats =
  (kernelOf: WasmLowering): WasmLowering =>
  (given) => {
    const types = [...given.inputs, given.output];
    const isFloat = types.every((type) => type === undefined || type.dtype === 'float32');
    return isFloat ? kernelOf(given) : undefined;
  };

const HALVES: ReadonlySet<DType> = new Set<DType>(['float16', 'bfloat16']);

/** Of floats of 16 bits too, by way of float32: operands and result are converted in temporary memory. */
export const withHalves =
  (lowering: WasmLowering): WasmLowering =>
  (given) => {
    const { inputs, output } = given;
    const direct = lowering(given);
    const hasHalves = [...inputs, output].some((type) => type !== undefined && isHalf(type));
    if (direct !== undefined || !hasHalves) return direct;
    const kernel = lowering({
      ...given,
      inputs: inputs.map((type) => type && asFloat(type)),
      output: asFloat(output),
    });
    return kernel && throughFloat(kernel, given);
  };

const isHalf = ({ dtype }: ConcreteTensorType): boolean => HALVES.has(dtype);
const asFloat = (type: ConcreteTensorType): ConcreteTensorType =>
  isHalf(type) ? { ...type, dtype: 'float32' } : type;

function throughFloat(kernel: WasmKernel, { inputs, output }: WasmCall): WasmKernel {
  const widened = inputs.flatMap((type, index) =>
    type !== undefined && isHalf(type)
      ? [{ type, index, widen: conversion(`widen${index}`, type, [type.dtype, 'float32']) }]
      : [],
  );
  const isResultHalf = isHalf(output);
  const floats = (type: ConcreteTensorType) => elementCount(type.shape) * 4;
  const own = [...widened.map(({ type }) => type), ...(isResultHalf ? [output] : [])];
  const inner = innerKernel(kernel, 'float_');
  return {
    functions: [
      ...inner.functions,
      ...widened.map(({ widen }) => widen),
      ...(isResultHalf ? [conversion('narrow', output, ['float32', output.dtype])] : []),
    ],
    // Those of constants, such as weights, are made once.
    packs: widened.map(({ type, index, widen }) => ({
      operand: index,
      layout: type.dtype,
      byteLength: floats(type),
      isOptional: true,
      functions: [widen],
    })),
    scratch: [...own.map(floats), ...inner.scratch],
    body({ inputs: places, output: target, packed, scratch }) {
      const given = [...places];
      const statements: Statement[] = widened.flatMap(({ index, widen }, i) => {
        const [from, to, kept] = [places[index], scratch[i], packed[i]];
        if (!(from && to)) return [];
        given[index] = to;
        const each = [call(widen.name, [from, to])];
        return kept ? when(kept, [set(to, kept)], each) : each;
      });
      const result = (isResultHalf ? scratch[widened.length] : undefined) ?? target;
      const whole = { inputs: given, output: result, scratch: scratch.slice(own.length) };
      return [
        ...statements,
        ...inner.pack(whole),
        ...inner.run(whole),
        ...(isResultHalf ? [call('narrow', [result, target])] : []),
      ];
    },
  };
}

/** `name(from, to)`: all elements of a tensor as another dtype. */
function conversion(
  name: string,
  { shape }: ConcreteTensorType,
  [from, to]: readonly [DType, DType],
): WasmFunction {
  const params: [Local, Local] = locals(2);
  const [source, target] = [elementAccess(from), elementAccess(to)];
  if (source === undefined || target === undefined) return { name, params, body: [] };
  const [read, written] = params;
  const count = elementCount(shape);
  const convert = (width: number): Statement[] => {
    const value = local('v128');
    return [
      set(value, source.read(read, 0, width)),
      ...target.write(written, 0, { value, count: width }),
    ];
  };
  const steps = [source.byteLength, target.byteLength];
  return { name, params, body: byFours({ count, pointers: params, steps }, convert) };
}
