/** The place in a value's row-major elements that an expression reads. */
export interface Position {
  /** A u32 expression: the element for width 1, the group of four elements for width 4. */
  readonly linear: string;
  readonly width: 1 | 4;
}

/** Statements of one WGSL block, and what is already computed in it. */
export class Scope {
  readonly lines: string[] = [];
  readonly #memo: Map<string, string>;

  constructor(outer?: Scope) {
    this.#memo = new Map(outer === undefined ? [] : outer.#memo);
  }

  /** The expression remembered under a key, or what `make` gives. */
  once(key: string, make: () => string): string {
    const known = this.#memo.get(key);
    if (known !== undefined) return known;
    const made = make();
    this.#memo.set(key, made);
    return made;
  }

  /** Makes later requests for a value at a position use an expression. */
  define(value: number, at: Position, expression: string): void {
    this.#memo.set(valueKey(value, at), expression);
  }

  /** Adds `let name = expression;` and returns the name. */
  let(name: string, expression: string): string {
    this.lines.push(`let ${name} = ${expression};`);
    return name;
  }

  /** Adds a nested block's lines, indented. */
  block(head: string, inner: Scope): void {
    this.lines.push(`${head} {`, ...inner.indented(), '}');
  }

  indented(): string[] {
    return this.lines.map((line) => `  ${line}`);
  }
}

export function valueKey(value: number, at: Position): string {
  return `value ${value} ${at.width} ${at.linear}`;
}
