import { expect, test } from 'vitest';
import { TypeInference } from '../../inference/type-inference.ts';
import { parseModule } from '../../ir/text/parse.ts';
import { parametersInPlace } from './overwrites.ts';

function namesInPlace(body: string): string[] {
  const module = parseModule(`def @main(
    %x: Tensor[(n, 4), float32], %y: Tensor[(n, 4), float32], %row: Tensor[(4,), float32],
    %i: Tensor[(n, 4), int32], %s: Tensor[(4, 4), float32]
  ) { ${body} }`);
  const main = module.functions.get('main');
  if (main === undefined) throw new Error('no main');
  const places = parametersInPlace(main, new TypeInference(module));
  return places.map((place) => main.params[place]?.name ?? '');
}

test.each([
  ['add(%x, %y)', ['x', 'y']],
  ['add(exp(%x), mul(%x, %row))', ['x', 'y']],
  ['reshape(exp(reshape(%s, shape=[16])), shape=[4, 4])', ['s']],
  ['exp(cast(%i, to="float32"))', ['x', 'y']],
  ['cast(%x, to="int32")', ['i']],
  ['add(%s, transpose(%s, perm=[1, 0]))', []],
  ['softmax(%x, axis=1)', []],
])('the result of %s may lie in %j', (body, names) => {
  expect(namesInPlace(body)).toEqual(names);
});
