import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { isBigInt } from '../../core/tensor/dtype.ts';
import { float16ToNumber, numberToFloat16 } from '../../core/tensor/float16.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { rowMajorStrides, sameShape } from '../../core/tensor/shape.ts';
import { boolAttribute, stringAttribute } from '../attributes.ts';
import type { NumberArray } from '../define-op.ts';
import { numberElements } from '../elements.ts';
import { arrayFunction } from '../formula/host/evaluate-arrays.ts';
import { type ElementFunction, elementFunction } from '../formula/host/evaluate.ts';
import type { Formula, FormulaCall } from '../formula/expression.ts';
import type { Operands } from '../lowering/lowering.ts';
import type { StaticReference } from '../op-reference.ts';
import { present, operand } from '../operand-checks.ts';
import { isShort } from './bitcast.ts';
import { convertElements } from './convert-elements.ts';
import { broadcastStrides, gatherBroadcast } from './gather-broadcast.ts';

/** The reference that follows from the formula of an elementwise operator. */
export function elementwiseReference(formula: Formula): StaticReference {
  return {
    reference: (operands, attributes, output) =>
      computeElements(formula, operands, { attributes, output }),
  };
}

function computeElements(
  formula: Formula,
  operands: Operands<HostTensor>,
  { attributes, output }: { readonly attributes: Attributes; readonly output: HostTensor },
): void {
  const tensors = present(operands);
  if ([...tensors, output].some(({ dtype }) => isBigInt(dtype))) {
    wideReference(formula, tensors, { attributes, output });
    return;
  }
  const target = numberElements(output);
  const arrays = tensors.map((tensor): NumberArray => {
    const elements = numberElements(tensor);
    if (sameShape(tensor.shape, output.shape)) return elements;
    const wide = numberElements(HostTensor.zeros(tensor.dtype, output.shape));
    gatherBroadcast({ elements, shape: tensor.shape }, output.shape, 0, wide);
    return wide;
  });
  const dtypes = tensors.map((tensor) => tensor.dtype);
  arrayFunction(formula, { attributes, dtypes, output: output.dtype })(arrays, target);
}

/** Element by element, for calls in which int64 or uint64 takes part. */
function wideReference(
  formula: Formula,
  tensors: readonly HostTensor[],
  { attributes, output }: { readonly attributes: Attributes; readonly output: HostTensor },
): void {
  const { elements, dtype } = output;
  const dtypes = tensors.map((tensor) => tensor.dtype);
  const evaluate = knownFunction(formula, { attributes, dtypes, output: dtype });
  const sources = tensors.map((tensor) => {
    const strides = broadcastStrides(tensor.shape, output.shape);
    return { data: tensor.data, strides, isSame: sameShape(tensor.shape, output.shape) };
  });
  const steps = rowMajorStrides(output.shape);
  for (let i = 0; i < elements.length; i++) {
    const values = sources.map(({ data, strides, isSame }) => {
      const at = isSame ? i : offsetOf(i, steps, strides);
      return data[at] ?? 0;
    });
    const value = evaluate(values);
    if (elements instanceof BigInt64Array || elements instanceof BigUint64Array)
      elements[i] = BigInt(value);
    else elements[i] = Number(value);
  }
}

/** The function that was last made for attributes: the calls of a plan have their own. */
const FUNCTIONS = new WeakMap<
  Attributes,
  { readonly formula: Formula; readonly types: string; readonly evaluate: ElementFunction }
>();

function knownFunction(formula: Formula, call: FormulaCall): ElementFunction {
  const types = [...call.dtypes, call.output].join();
  const known = FUNCTIONS.get(call.attributes);
  if (known?.formula === formula && known.types === types) return known.evaluate;
  const evaluate = elementFunction(formula, call);
  FUNCTIONS.set(call.attributes, { formula, types, evaluate });
  return evaluate;
}

function offsetOf(index: number, steps: readonly number[], strides: readonly number[]): number {
  let rest = index;
  let offset = 0;
  for (const [axis, step] of steps.entries()) {
    const coord = Math.floor(rest / step);
    rest -= coord * step;
    offset += coord * (strides[axis] ?? 0);
  }
  return offset;
}

export const castReference: StaticReference = {
  takesBits: true,
  reference(inputs, attributes, output) {
    convertElements(operand(inputs, 0), output, {
      saturate: boolAttribute(attributes, 'saturate'),
      roundMode: stringAttribute(attributes, 'round_mode'),
    });
  },
};

export const bitcastReference: StaticReference = {
  takesBits: true,
  reference(inputs, _, output) {
    const { buffer, byteOffset, byteLength } = operand(inputs, 0).data;
    const { elements } = output;
    const target = new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
    target.set(new Uint8Array(buffer, byteOffset, byteLength));
    if (output.dtype === 'bool')
      for (const [i, bits] of target.entries()) target[i] = Number(bits !== 0);
  },
  element([x = 0], { dtypes: [from = 'float32'], output }) {
    if (from === 'float32' && isShort(output)) return numberToFloat16(x);
    if (isShort(from) && output === 'float32') return float16ToNumber(x & 0xffff);
    if (output === 'bool') return Number(x !== 0);
    if (from === 'float32') WORD.setFloat32(0, x);
    else WORD.setInt32(0, x);
    if (output === 'float32') return WORD.getFloat32(0);
    return output.startsWith('uint') ? WORD.getUint32(0) : WORD.getInt32(0);
  },
};

const WORD = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(4));
