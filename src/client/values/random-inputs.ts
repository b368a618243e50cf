import { type Inputs, type InputValue, Tensor, type ValueInfo } from '../index.ts';

/** Sizes of named dimensions and values of int and float inputs, as the page's fields have them. */
export type ChosenNumbers = ReadonlyMap<string, number>;

/** The choices that a person makes before a model can run on random input. */
export function numbersToChoose(inputs: readonly ValueInfo[]): string[] {
  const names = new Set<string>();
  for (const { name, dtype, shape } of inputs) {
    if (dtype === 'int' || dtype === 'float') names.add(name);
    for (const dim of shape) if (typeof dim === 'string') names.add(dim);
  }
  return [...names];
}

/**
 * Inputs of the right names, types and shapes: floats from 0 to 1, integers from 0 to 9, bools.
 * Throws when an input is something that has no random value.
 */
export function randomInputs(
  inputs: readonly ValueInfo[],
  chosen: ChosenNumbers,
  random: () => number,
): Inputs {
  return Object.fromEntries(
    inputs.map((info): [string, InputValue] => [info.name, randomValue(info, chosen, random)]),
  );
}

function randomValue(info: ValueInfo, chosen: ChosenNumbers, random: () => number): InputValue {
  const { name, dtype } = info;
  if (dtype === 'int' || dtype === 'float') return chosen.get(name) ?? 1;
  if (dtype === 'any') {
    throw new Error(`The input "${name}" can be anything, so no random value is made for it.`);
  }
  const shape = info.shape.map((dim) => (typeof dim === 'number' ? dim : (chosen.get(dim) ?? 1)));
  const count = shape.reduce((product, dim) => product * dim, 1);
  const draw = (): number | bigint | boolean => {
    if (dtype === 'bool') return random() < 0.5;
    if (dtype.startsWith('float')) return random();
    const integer = Math.floor(random() * 10);
    return dtype.endsWith('64') ? BigInt(integer) : integer;
  };
  return Tensor.from(Array.from({ length: count }, draw), dtype, shape);
}
