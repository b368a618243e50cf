/**
 * An object of JavaScript that a function gives a program of type `Opaque[name]` or `any`, or a page as an input, and
 * that the program hands to other functions. The program cannot look into it, and it does not leave its side: a
 * snapshot or a remote call that meets one is refused and names it. The garbage collector frees the object.
 */
export class OpaqueValue {
  /** Tells values apart. */
  readonly kind = 'opaque';
  /** The name of its kind: `database` for `Opaque[database]`. */
  readonly name: string;
  /** The object itself. */
  readonly value: unknown;

  constructor(name: string, value: unknown) {
    this.name = name;
    this.value = value;
  }
}
