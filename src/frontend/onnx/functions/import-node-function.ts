import {
  callFunction,
  extern,
  global,
  projection,
  variableOf,
} from '../../../compiler/ir/build.ts';
import type { Expr } from '../../../compiler/ir/expr.ts';
import { formatType, tensorType, type Type } from '../../../compiler/ir/type.ts';
import { forEachSymbol, isUnknownDim } from '../../../core/dims/dim-symbols.ts';
import { type Dim, formatDim } from '../../../core/dims/dim.ts';
import type { NodeTensor } from '../../../core/contracts/node-function.ts';
import type { TensorType } from '../../../core/contracts/primitive-function.ts';
import type { ImportNode, NodeImporter } from '../import-node.ts';

/** An importer of nodes that a function of JavaScript computes. */
export function nodeFunctionImporter(operator: string): NodeImporter {
  return (node) => importCall(operator, node);
}

function importCall(operator: string, node: ImportNode): readonly (Expr | undefined)[] {
  const { context, block, where, span, outputCount } = node;
  const inputs = node.inputs.map((input) => input && node.tensor(input));
  const types = inputs.map((input) => input && node.type(input));
  const attributes = node.attributes.all();
  const signature = {
    operator,
    where,
    inputs: types.map((type) => type && describeTensor(type)),
    attributes,
    outputCount,
  };
  const outputs = context.nodeFunctions.outputsOf(operator, signature, types).slice(0, outputCount);
  const present = inputs.flatMap((input, index) => (input === undefined ? [] : [{ input, index }]));
  const name = context.nodeFunction(
    { operator, inputCount: inputs.length, inputs: present.map(({ index }) => index), attributes },
    {
      where,
      ...functionType(
        present.map(({ index }) => types[index]),
        outputs,
      ),
    },
  );
  const call = callFunction(
    global(name),
    present.map(({ input }) => input),
    span,
  );
  const results = outputs.map((type) => tensorType(type));
  const [only] = results;
  const isOne = results.length === 1 && only !== undefined;
  const type: Type = isOne ? only : { kind: 'tuple', fields: results };
  if (isOne && outputs[0]?.shape.some(isUnknownDim)) return [block.name(call, outputs[0], span)];
  const all = block.bind(call, { name: 'called', type, span });
  if (isOne) return [all];
  return outputs.map((output, i) => {
    const result = projection(all, i);
    return output.shape.some(isUnknownDim) ? block.name(result, output, span) : result;
  });
}

function describeTensor({ dtype, shape }: TensorType): NodeTensor {
  return { dtype, shape: shape.map((dim) => (typeof dim === 'number' ? dim : formatDim(dim))) };
}

/**
 * The type of a function of its own: a size that is computed in the caller gets a name, and one that no argument
 * tells is for the running program to find.
 */
function functionType(inputs: readonly (TensorType | undefined)[], outputs: readonly TensorType[]) {
  const names = new Map<string, string>();
  const told = new Set<string>();
  const params = inputs.flatMap((input) => {
    if (input === undefined) return [];
    const shape = input.shape.map((dim): Dim => {
      if (typeof dim !== 'object') {
        if (typeof dim === 'string') told.add(dim);
        return dim;
      }
      const name = names.get(formatDim(dim)) ?? `computed${names.size}`;
      names.set(formatDim(dim), name);
      return name;
    });
    return [tensorType({ ...input, shape })];
  });
  const resultDim = (dim: Dim): Dim => {
    const name = names.get(formatDim(dim));
    if (name !== undefined) return name;
    let isTold = true;
    forEachSymbol(dim, (symbol) => (isTold &&= told.has(symbol)));
    return isTold ? dim : '?';
  };
  const results = outputs.map((output) =>
    tensorType({ ...output, shape: output.shape.map(resultDim) }),
  );
  const [only] = results;
  const result: Type =
    results.length === 1 && only !== undefined ? only : { kind: 'tuple', fields: results };
  const key = [...params, result].map(formatType).join();
  const define = (name: string) =>
    extern(
      name,
      params.map((type, i) => variableOf(`x${i}`, type)),
      result,
    );
  return { key, define };
}
