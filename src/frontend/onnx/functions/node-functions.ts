import { parseModule } from '../../../compiler/ir/text/parse.ts';
import { formatType, type Type } from '../../../compiler/ir/type.ts';
import { proveEqual } from '../../../core/dims/dim-algebra.ts';
import { forEachSymbol, substituteDim } from '../../../core/dims/dim-symbols.ts';
import { type Dim, formatDim } from '../../../core/dims/dim.ts';
import { ParseError, UnsupportedError, UsageError } from '../../../core/errors.ts';
import type {
  NodeOutput,
  NodeSignature,
  NodeTensor,
  NodeType,
  NodeTypes,
} from '../../../core/contracts/node-function.ts';
import type { TensorType } from '../../../core/contracts/primitive-function.ts';
import { canonicalDomain } from '../model/operator-sets.ts';

/** The types of functions that compute nodes, by domain and operator. */
export class NodeFunctions {
  readonly #types = new Map<string, NodeType>();

  /** Throws UsageError for a name without a domain, and for a type that is none. */
  constructor(functions: NodeTypes = {}) {
    for (const [name, { type }] of Object.entries(functions)) {
      const where = `functions, ${name}`;
      if (!name.includes('::')) {
        throw new UsageError({ where, got: 'no domain', expected: 'a name such as my.domain::Op' });
      }
      if (type === undefined) {
        const expected = 'a type, by which models with such nodes are compiled';
        throw new UsageError({ where, got: 'no type', expected });
      }
      if (typeof type === 'string') signatureOf(type, where);
      this.#types.set(name, type);
    }
  }

  /** Throws UsageError for a function of an operator that is imported otherwise. */
  requireNew(isKnown: (domain: string, opType: string) => boolean): void {
    for (const name of this.#types.keys()) {
      const at = name.lastIndexOf('::');
      if (!isKnown(name.slice(0, at), name.slice(at + 2))) continue;
      const got = 'an operator that Weft or an importer reads';
      throw new UsageError({ where: `functions, ${name}`, got, expected: 'one that nobody has' });
    }
  }

  /** The name under which the function of an operator is supplied. */
  find(domain: string | undefined, opType: string | undefined): string | undefined {
    const names = [`${domain ?? ''}::${opType ?? ''}`, `${canonicalDomain(domain)}::${opType}`];
    return names.find((name) => this.#types.has(name));
  }

  /**
   * The types of a node's outputs. Throws UnsupportedError, which names the node, for inputs that the function
   * does not take, UsageError for a type that is none.
   */
  outputsOf(name: string, node: NodeSignature, inputs: readonly (TensorType | undefined)[]) {
    const type = this.#types.get(name);
    if (type === undefined) throw new Error(`internal: no function ${name}`);
    const outputs =
      typeof type === 'string'
        ? fixedOutputs(signatureOf(type, `functions, ${name}`), node, inputs)
        : listOf(type(node)).map((output) => outputType(output, name));
    if (outputs.length >= node.outputCount) return outputs;
    throw new UnsupportedError({
      where: node.where,
      got: `a function ${name} of ${outputs.length} outputs`,
      expected: `${node.outputCount}`,
    });
  }
}

interface Signature {
  readonly params: readonly TensorType[];
  readonly results: readonly TensorType[];
}

function listOf(outputs: NodeOutput | readonly NodeOutput[]): readonly NodeOutput[] {
  return Array.isArray(outputs) ? outputs : [outputs as NodeOutput];
}

function signatureOf(text: string, where: string): Signature {
  const type = parseTypeText(text, where);
  if (type.kind !== 'function') throw noType(where, text);
  const { params, result } = type;
  const tensors = (types: readonly Type[]): TensorType[] =>
    types.map((one) => {
      if (one.kind !== 'tensor') throw noType(where, text);
      return one;
    });
  return {
    params: tensors(params),
    results: tensors(result.kind === 'tuple' ? result.fields : [result]),
  };
}

function outputType(output: NodeOutput, name: string): TensorType {
  const where = `functions, type of ${name}`;
  const text = typeof output === 'string' ? output : formatTensor(output);
  const type = parseTypeText(text, where);
  if (type.kind === 'tensor') return type;
  throw noType(where, text);
}

function formatTensor({ dtype, shape }: NodeTensor): string {
  return `Tensor[(${shape.map((dim) => `${dim},`).join(' ')}), ${dtype}]`;
}

function parseTypeText(text: string, where: string): Type {
  try {
    const { functions } = parseModule(`def @f(%t: ${text}) { %t }`, { file: where });
    const type = functions.get('f')?.params[0]?.type;
    if (type !== undefined) return type;
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
  }
  throw noType(where, text);
}

function noType(where: string, text: string): UsageError {
  const expected = 'Tensor[(n,), float32], or fn (…) -> … of tensors for all nodes';
  return new UsageError({ where, got: JSON.stringify(text), expected });
}

/** Names of dimensions stand for those of the inputs. */
function fixedOutputs(
  { params, results }: Signature,
  { where }: NodeSignature,
  inputs: readonly (TensorType | undefined)[],
): TensorType[] {
  const sizes = new Map<string, Dim>();
  const inputCount = inputs.findLastIndex((input) => input !== undefined) + 1;
  if (inputCount > params.length) {
    const got = `${inputCount} inputs`;
    throw new UnsupportedError({ where, got, expected: `at most ${params.length}` });
  }
  for (const [i, { dtype, shape }] of params.entries()) {
    const input = inputs[i];
    if (input === undefined) continue;
    const fits =
      input.dtype === dtype &&
      input.shape.length === shape.length &&
      shape.every((dim, axis) => dimFits(dim, input.shape[axis] ?? 0, sizes));
    if (fits) continue;
    const bound = Array.from(sizes, ([name, dim]) => `${name} is ${formatDim(dim)}`).join(', ');
    throw new UnsupportedError({
      where,
      got: `${formatType({ kind: 'tensor', ...input })} as input ${i}`,
      expected: `${formatType({ kind: 'tensor', dtype, shape })}${bound === '' ? '' : ` where ${bound}`}`,
    });
  }
  return results.map(({ dtype, shape }) => ({
    dtype,
    shape: shape.map((dim) => resultDim(dim, sizes)),
  }));
}

function dimFits(dim: Dim, size: Dim, sizes: Map<string, Dim>): boolean {
  if (dim === '?') return true;
  if (typeof dim === 'string' && !sizes.has(dim)) {
    sizes.set(dim, size);
    return true;
  }
  return proveEqual(substituteDim(dim, sizes), size);
}

/** A name that no input tells is a size that only the running program knows. */
function resultDim(dim: Dim, sizes: ReadonlyMap<string, Dim>): Dim {
  let isKnown = true;
  forEachSymbol(dim, (symbol) => (isKnown &&= sizes.has(symbol)));
  return isKnown ? substituteDim(dim, sizes) : '?';
}
