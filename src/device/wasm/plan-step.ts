import { dtypeInfo } from '../../core/tensor/dtype.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import type { Operator } from '../../ops/operator.ts';
import type { WasmCall, WasmKernel } from '../../ops/lowering/wasm-lowering.ts';
import { findLowering } from '../../ops/tables/wasm.ts';
import { type Local, local } from '../../wasm/expression.ts';
import {
  byteLengthOf,
  type CallStep,
  type ChainStep,
  type HostStep,
  type PlannedCall,
} from '../host/host-plan.ts';
import { isPlannedChain, planChain } from './plan-chain.ts';
import { copyKernel, mapKernel } from './plan-map.ts';
import {
  newUnitRange,
  type StepAccess,
  type StepContext,
  type StepPlan,
  type ValueAccess,
} from './step-plan.ts';

/** The loop nest of a step; undefined for one that references do. Pure. */
export function planStep(step: HostStep, context: StepContext): StepPlan | undefined {
  const chain = asChain(step);
  return chain ? planChain(chain, context) : planCall(step as CallStep, context);
}

/**
 * Returns true if {@link planStep} can plan the step. A lowering says so by making a kernel, so `known` keeps what it said of
 * calls that differ in sizes alone.
 */
export function isPlanned(
  step: HostStep,
  context: StepContext,
  known = new Map<string, boolean>(),
): boolean {
  const chain = asChain(step);
  if (chain) return isPlannedChain(chain, context);
  const { call } = step as CallStep;
  const types = [...call.inputs, call.value].map((value) => {
    const { dtype, shape } = context.types[value] ?? {};
    return [dtype, shape?.map((size) => size === 1)];
  });
  const key = JSON.stringify([call.op.name, types, call.attributes]);
  const answer = known.get(key) ?? kernelOfStep(step as CallStep, context) !== undefined;
  known.set(key, answer);
  return answer;
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
