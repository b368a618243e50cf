import { float16ToNumber, numberToFloat16 } from '../../core/tensor/float16.ts';
import { boolAttribute, stringAttribute } from '../attributes.ts';
import type { StaticReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';
import { isShort } from './bitcast.ts';
import { convertElements } from './convert-elements.ts';

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
