import * as ir from '../../../../compiler/ir/build.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Type } from '../../../../compiler/ir/type.ts';
import { elementTypeOf, listType, OPEN_TYPE, typed } from '../../composite-values.ts';
import { Block } from '../../graph-scope.ts';
import type { ImportNode } from '../../import-node.ts';
import {
  bindData,
  requireOneLength,
  mapList,
  type RunningData,
  runningData,
  takenOut,
  wrongKind,
} from './running-sequence.ts';

/** The body gets an element of each sequence, and each other input as it is; its outputs become sequences. */
export function importSequenceMap(node: ImportNode): readonly Expr[] {
  const body = node.subgraph('body');
  const inputs = node.allInputs();
  if (body.inputNames.length !== inputs.length) {
    throw node.malformed(
      `a body of ${body.inputNames.length} inputs for ${inputs.length} inputs`,
      'one for each',
    );
  }
  const isList = inputs.map((input) => node.dataType(input).kind === 'adt');
  if (isList[0] !== true) throw wrongKind(node, 'List');
  const known = inputs.map((input) => {
    const composite = node.composite(input);
    return composite?.kind === 'sequence' ? composite.elements : undefined;
  });
  if (known.every((elements, i) => elements !== undefined || isList[i] === false)) {
    const lists = known.flatMap((elements) => (elements === undefined ? [] : [elements]));
    const count = lists[0]?.length ?? 0;
    if (lists.some(({ length }) => length !== count)) {
      throw node.malformed(
        `sequences of ${lists.map(({ length }) => length).join(', ')}`,
        'sequences of one length',
      );
    }
    const results = Array.from({ length: count }, (_, i) =>
      body.importInto(
        node.block,
        inputs.map((input, k) => known[k]?.[i] ?? input),
      ),
    );
    return body.outputNames.map((_, k) => {
      const elements = results.flatMap((result) => result[k] ?? []);
      return node.compositeResult({ kind: 'sequence', elements, element: OPEN_TYPE });
    });
  }
  return mapRunning(node, inputs, isList);
}

/** The body as a function over the elements, by which a list is mapped. */
function mapRunning(
  node: ImportNode,
  inputs: readonly Expr[],
  isList: readonly boolean[],
): readonly Expr[] {
  const body = node.subgraph('body');
  const lists = inputs.flatMap((input, i) =>
    isList[i] === true ? [runningData(node, input, 'List')] : [],
  );
  const zipped = zip(node, lists);
  const item = ir.variableOf('item', zipped.element);
  const block = new Block(node.context, node.block.frame);
  const elements = lists.map(({ element }, i) => {
    let taken: Expr = item;
    for (let k = 0; k < i; k++) taken = ir.projection(taken, 1);
    const value = i < lists.length - 1 ? ir.projection(taken, 0) : taken;
    return takenOut(node, value, { type: element, block });
  });
  let next = 0;
  const outputs = body.importInto(
    block,
    inputs.map((input, i) => (isList[i] === true ? (elements[next++] ?? input) : input)),
  );
  const types = outputs.map((output) => elementTypeOf(node.dataType(output)));
  const data = outputs.map((output, i) => {
    const type = types[i] ?? OPEN_TYPE;
    return typed(node.data(output, type), type);
  });
  const [only] = data;
  const isOne = data.length === 1 && only !== undefined;
  const result: Type =
    isOne && types[0] !== undefined ? types[0] : { kind: 'tuple', fields: types };
  const fn = ir.func([item], block.wrap(isOne ? only : ir.tuple(data)));
  const mapped = bindData(
    node,
    ir.callFunction(ir.global('map'), [fn, zipped.value], node.span),
    listType(result),
  );
  if (isOne) return [mapped];
  return types.map((type, i) =>
    mapList(
      node,
      { value: mapped, element: result },
      { type, change: (each) => ir.projection(each, i) },
    ),
  );
}

/** The elements of several lists side by side: `(a, (b, c))`. */
function zip(node: ImportNode, lists: readonly RunningData[]): RunningData {
  requireOneLength(node, lists);
  return lists.reduceRight((rest, list) => {
    const element: Type = { kind: 'tuple', fields: [list.element, rest.element] };
    const zipped = ir.callFunction(ir.global('zip'), [list.value, rest.value], node.span);
    return { value: bindData(node, zipped, listType(element)), element };
  });
}
