import type { Operand } from '../bytecode/function-builder.ts';
import type { ShapeSlots } from './codegen-shapes.ts';
import type { Emitter } from './emitter.ts';
import type { Type } from './ir/type.ts';
import { tensorTypesIn } from './shape-needs.ts';

export interface BindOptions {
  /** Whether the value comes from outside, so that nothing is known of it. */
  readonly isChecked: boolean;
  /** What the value is, for messages. */
  readonly where: string;
}

/** Compares values with their types, and learns the symbols that stand there. */
export class ShapeBinder {
  readonly #emitter: Emitter;
  readonly #slots: ShapeSlots;

  constructor(emitter: Emitter, slots: ShapeSlots) {
    this.#emitter = emitter;
    this.#slots = slots;
  }

  /** Whether a value of this type tells a symbol that is not known yet. */
  isNew(type: Type): boolean {
    return tensorTypesIn(type).some((tensor) => this.#slots.tells(tensor));
  }

  /** Emits the checks of a value and the reads of its dimensions; those of a tuple field by field. */
  bind(value: Operand, type: Type, { isChecked, where }: BindOptions): void {
    if (type.kind === 'tuple') {
      for (const [i, field] of type.fields.entries()) {
        if (tensorTypesIn(field).length === 0 || !(isChecked || this.isNew(field))) continue;
        const register = this.#emitter.builtin('tuple_get', [value, i]);
        this.bind(register, field, { isChecked, where: `${where}.${i}` });
        this.#emitter.kill(register);
      }
    }
    if (type.kind !== 'tensor' || !(isChecked || this.#slots.tells(type))) return;
    const context = this.#emitter.program.string(where);
    if (isChecked) {
      const dtype = this.#emitter.program.dtype(type.dtype);
      this.#emitter.builtin('check_tensor_info', [value, type.shape.length, dtype, context]);
    }
    this.#slots.match(value, type, context);
  }
}
