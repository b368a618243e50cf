import { expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { DEVICES } from '../../device/testing/node-devices.ts';
import { seededRandom } from '../../core/random.ts';
import { loadProgram } from '../testing/load-program.ts';

/*
 * Programs that mention sizes far from what tells them: whoever only mentions a name has to come
 * after the value that brings it, whatever the passes make of lets, branches and shared nodes.
 */

interface Known {
  /** Text of a dimension, or of a scalar, with its value. */
  readonly text: string;
  readonly value: number;
}

/** Grows a program next to what it computes. */
class ProgramWriter {
  readonly #random: () => number;
  readonly #inputs: readonly number[];
  #count = 0;

  constructor(random: () => number, inputs: readonly number[]) {
    this.#random = random;
    this.#inputs = inputs;
  }

  /** The statements of a block, and its result: a scalar that is a sum of some of its values. */
  block(depth: number, outer: { dims: readonly Known[]; scalars: readonly Known[] }): Known {
    const dims = [...outer.dims];
    const scalars = [...outer.scalars];
    const lines: string[] = [];
    for (let step = this.#below(6) + 2; step > 0; step--) {
      const name = `v${this.#count++}`;
      const kind = this.#below(depth > 0 ? 5 : 4);
      if (kind === 0) {
        const input = this.#below(this.#inputs.length);
        lines.push(`let %${name}: Tensor[(0, ${name}), int32] = sizes(%s${input});`);
        dims.push({ text: name, value: this.#inputs[input] ?? 0 });
      } else if (kind === 1) {
        const [a, b] = [this.#pick(dims), this.#pick(scalars)];
        lines.push(
          `let %${name}: Tensor[(1, ${name}), int64] = nonzero(mul(full(shape=[${a.text}], value=1), ${b.text}));`,
        );
        dims.push({ text: name, value: b.value === 0 ? 0 : a.value });
      } else {
        const value =
          kind === 4 ? this.#branches(depth, { dims, scalars }) : this.#sum(dims, scalars);
        lines.push(`let %${name} = ${value.text};`);
        scalars.push({ text: `%${name}`, value: value.value });
      }
    }
    const [a, b] = [this.#pick(scalars), this.#pick(scalars)];
    return {
      text: `${lines.join('\n')}\nadd(${a.text}, ${b.text})`,
      value: a.value + b.value,
    };
  }

  /** A tensor as long as a dimension says, summed up, and a scalar. */
  #sum(dims: readonly Known[], scalars: readonly Known[]): Known {
    const [a, b, c] = [this.#pick(dims), this.#pick(dims), this.#pick(scalars)];
    const ones = `full(shape=[${a.text} + ${b.text}], value=1)`;
    return {
      text: `add(reduce_sum(${ones}, axes=[0], keepdims=false), ${c.text})`,
      value: a.value + b.value + c.value,
    };
  }

  #branches(depth: number, outer: { dims: readonly Known[]; scalars: readonly Known[] }): Known {
    const condition = this.#below(2);
    const [yes, no] = [this.block(depth - 1, outer), this.block(depth - 1, outer)];
    return {
      text: `if (%c${condition}) {\n${yes.text}\n} else {\n${no.text}\n}`,
      value: condition === 1 ? yes.value : no.value,
    };
  }

  #pick(known: readonly Known[]): Known {
    const found = known[this.#below(known.length)];
    if (found === undefined) throw new Error('nothing to pick');
    return found;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

test.each(DEVICES)('names of sizes come before what mentions them, on $title', async ({ open }) => {
  const device = await open();
  for (let seed = 1; seed <= (device.kind === 'host' ? 60 : 8); seed++) {
    const random = seededRandom(seed);
    const inputs = [0, 1, 2].map(() => Math.floor(random() * 4));
    const writer = new ProgramWriter(random, inputs);
    const { text, value } = writer.block(2, {
      dims: [{ text: 'n', value: 2 }],
      scalars: [
        { text: '%x0', value: 3 },
        { text: '0f', value: 0 },
      ],
    });
    const params = inputs.map((_, i) => `%s${i}: Tensor[(1,), int64]`).join(', ');
    const program = `def @main(%n: Tensor[(n,), float32], %x0: Tensor[(), float32], ${params}, %c0: int, %c1: int) {\n${text}\n}`;
    const { run, vm } = await loadProgram(program, { device });
    const result = await run(
      'main',
      HostTensor.zeros('float32', [2]),
      HostTensor.from('float32', [], [3]),
      ...inputs.map((input) => HostTensor.from('int64', [1], [input])),
      0,
      1,
    );
    vm.dispose();
    expect(result, `seed ${seed}:\n${program}`).toBe(value);
  }
  device.destroy();
});
