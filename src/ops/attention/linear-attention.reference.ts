import { CONCRETE_DIMS } from '../../core/dims/dim-context.ts';
import { floatElements } from '../elements.ts';
import type { StaticReference } from '../op-reference.ts';
import { INPUTS, sizesOf } from './linear-attention.ts';

/** Computes in double precision, one column of the state after the other. */
export const linearAttentionReference: StaticReference = {
  reference(inputs, attributes, output) {
    const sizes = sizesOf(inputs, attributes, CONCRETE_DIMS);
    const { batch, positions, heads, kvHeads, keySize, valueSize } = sizes;
    const [query, key, value, initial, gate, erase] = INPUTS.map((_, i) => {
      const input = inputs[i];
      return input && floatElements(input);
    });
    const y = floatElements(output);
    const outputs = batch * positions * heads * valueSize;
    const group = heads / kvHeads;
    for (let i = 0; i < batch * kvHeads * valueSize; i++) {
      const column = i % valueSize;
      const at = Math.floor(i / valueSize);
      const [sequence, head] = [Math.floor(at / kvHeads), at % kvHeads];
      const place = (k: number): number => (at * keySize + k) * valueSize + column;
      const state = Float64Array.from({ length: keySize }, (_, k) => initial?.[place(k)] ?? 0);
      for (let t = 0; t < positions; t++) {
        const position = sequence * positions + t;
        const row = position * kvHeads + head;
        let added = value?.[row * valueSize + column] ?? 0;
        for (let k = 0; k < keySize; k++) {
          const kept = (state[k] ?? 0) * (gate?.[row * keySize + k] ?? 1);
          state[k] = kept;
          if (erase) added -= kept * (erase[row * keySize + k] ?? 0);
        }
        for (let k = 0; k < keySize; k++) {
          state[k] = (state[k] ?? 0) + (key?.[row * keySize + k] ?? 0) * added;
        }
        for (let g = 0; g < group; g++) {
          const asked = position * heads + head * group + g;
          let sum = 0;
          for (let k = 0; k < keySize; k++) {
            sum += (state[k] ?? 0) * (query?.[asked * keySize + k] ?? 0);
          }
          y[asked * valueSize + column] = sum;
        }
      }
      for (let k = 0; k < keySize; k++) y[outputs + place(k)] = state[k] ?? 0;
    }
  },
};
