import { FormatError } from '../../core/errors.ts';
import { DERIVED, VALUE_NAMES } from '../../core/contracts/value-names.ts';

/** The node that computes a value of the source, and the output that it is. */
export interface ValuePlace {
  /** The name of a node, or a line as `file:line:column`. */
  readonly source: string;
  readonly output: number;
}

/** Finds where values of the source are computed, by their names. */
export class ValueNames {
  readonly #places = new Map<string, ValuePlace>();
  readonly #outputs = new Map<string, readonly string[]>();

  /** Throws FormatError for metadata that no compiler wrote. */
  constructor(metadata: Readonly<Record<string, string>>) {
    const text = metadata[VALUE_NAMES] ?? '{}';
    const names = parse(text);
    if (typeof names !== 'object' || names === null) throw notNames(text);
    for (const [source, outputs] of Object.entries(names)) {
      if (!Array.isArray(outputs) || !outputs.every((name) => typeof name === 'string')) {
        throw notNames(text);
      }
      this.#outputs.set(source, outputs);
      for (const [output, name] of outputs.entries()) {
        if (name !== '') this.#places.set(name, { source, output });
      }
    }
  }

  /** The places that a name may mean, the likeliest first: of a value, of a node, or derived from that of a node. */
  candidates(name: string): readonly ValuePlace[] {
    const given = this.#places.get(name);
    const derived = DERIVED.flatMap((pattern): ValuePlace[] => {
      const [, source, output] = pattern.exec(name) ?? [];
      return source === undefined ? [] : [{ source, output: Number(output) }];
    });
    return [...(given === undefined ? [] : [given]), { source: name, output: 0 }, ...derived];
  }

  /** The name of a value that a node computes: its own where that is known, else that of the node. */
  nameOf(source: string, output: number): string {
    return this.#outputs.get(source)?.[output] || source;
  }

  outputCount(source: string): number {
    return this.#outputs.get(source)?.length ?? 1;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function notNames(text: string): FormatError {
  return new FormatError({
    where: `metadata, ${VALUE_NAMES}`,
    got: text.slice(0, 40),
    expected: 'names of outputs by nodes as JSON',
  });
}
