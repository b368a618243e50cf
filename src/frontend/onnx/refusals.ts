import { UnsupportedError } from '../../core/errors.ts';

/** Nodes that cannot be imported: one error lists them all. */
export class Refusals {
  /** The first error by its message. */
  readonly #limits = new Map<string, UnsupportedError>();
  /** The operators by the nodes that have them. */
  readonly #unknown = new Map<string, string>();

  /** The error thrown for a node, or by {@link throwIfAny} for the nodes of a graph inside it. */
  add(error: UnsupportedError): void {
    if (!(error instanceof NodesRefusedError)) this.#limits.set(error.message, error);
    else this.#addAll(error.refusals);
  }

  #addAll(others: Refusals): void {
    for (const [message, error] of others.#limits) this.#limits.set(message, error);
    for (const [where, operator] of others.#unknown) this.#unknown.set(where, operator);
  }

  /** A node whose operator has no importer. */
  addUnknownOperator(where: string, operator: string): void {
    this.#unknown.set(where, operator);
  }

  /** Throws UnsupportedError. Unknown operators go first: what else there is may follow from them. */
  throwIfAny(where = 'ONNX model'): void {
    if (this.#unknown.size > 0)
      throw new NodesRefusedError(this, ...unknownOperators(where, this.#unknown));
    const [first] = this.#limits.values();
    if (first === undefined) return;
    const nodes = [...this.#limits.keys()];
    if (nodes.length === 1) throw first;
    const message = `${nodes.length} nodes of the model are not supported:\n  ${nodes.join('\n  ')}`;
    throw new NodesRefusedError(this, message, { nodes });
  }
}

/** Remembers what it lists, so that the graph around can list it together with its own nodes. */
class NodesRefusedError extends UnsupportedError {
  readonly refusals: Refusals;

  constructor(refusals: Refusals, message: string, details: Record<string, readonly string[]>) {
    super(message, { details });
    this.refusals = refusals;
  }
}

function unknownOperators(
  where: string,
  unknown: ReadonlyMap<string, string>,
): [message: string, details: Record<string, readonly string[]>] {
  const operators = [...new Set(unknown.values())].sort();
  const nodes = [...unknown.keys()];
  const message =
    `${where}: got ${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'} of ` +
    `${operators.length === 1 ? 'an unsupported operator' : 'unsupported operators'} ` +
    `(${operators.join(', ')}), expected operators that Weft has:\n  ${nodes.join('\n  ')}`;
  return [message, { operators, nodes }];
}
