import { internalError } from '../../../core/errors.ts';
import type { NumberArray } from '../../define-op.ts';
import { arrayLoop } from './array-loops.ts';
import type { Formula, FormulaCall } from '../expression.ts';
import { type TypedExpression, typedFormula } from '../infer-types.ts';
import type { ScalarType } from '../scalar-type.ts';

/**
 * Computes whole arrays of equal length, of dtypes that JavaScript numbers hold. The output may be one
 * of the operands.
 */
export type ArrayFunction = (operands: readonly NumberArray[], output: NumberArray) => void;

/** Elements per block, at most: what nodes of a formula leave for each other fits the nearer caches. */
const BLOCK = 2048;

/**
 * A loop for each node of the formula, block by block: of `block` elements, where no array is longer. Not to be
 * called while it runs: its blocks are made once.
 */
export function arrayFunction(formula: Formula, call: FormulaCall, block = BLOCK): ArrayFunction {
  const blocks = new Blocks(Math.min(block, BLOCK));
  const write = blocks.write(typedFormula(formula, call), 0, new Map());
  return (operands, output) => {
    if (blocks.isEmpty || output.length <= blocks.length) {
      write(operands, output);
      return;
    }
    for (let start = 0; start < output.length; start += blocks.length) {
      const end = Math.min(start + blocks.length, output.length);
      write(
        operands.map((operand) => operand.subarray(start, end)),
        output.subarray(start, end),
      );
    }
  };
}

/** Whole arrays by a function of single elements. */
export function elementLoop(element: (operands: readonly number[]) => number): ArrayFunction {
  return (operands, output) => {
    const values = operands.map(() => 0);
    for (let i = 0; i < output.length; i++) {
      for (let j = 0; j < operands.length; j++) values[j] = operands[j]?.[i] ?? 0;
      output[i] = element(values);
    }
  };
}

/** The values of a node for the elements of a block. */
type Read = (operands: readonly NumberArray[], elementCount: number) => NumberArray;
type Write = ArrayFunction;
type Variables = ReadonlyMap<string, NumberArray>;

/** Memory for the values of inner nodes: a stack, of which each level has an array of each type. */
class Blocks {
  readonly length: number;
  readonly #levels: Partial<Record<ScalarType, NumberArray>>[] = [];
  #hasConstants = false;

  constructor(length: number) {
    this.length = length;
  }

  /** True if the formula needs no such memory: it is a single loop over operands. */
  get isEmpty(): boolean {
    return this.#levels.length === 0 && !this.#hasConstants;
  }

  /** Computes a node into an array; levels below `level` are taken. */
  write(node: TypedExpression, level: number, variables: Variables): Write {
    switch (node.kind) {
      case 'operand':
      case 'variable':
      case 'constant': {
        const read = this.#read(node, level, variables);
        return (operands, output) => {
          const values = read(operands, output.length);
          for (let i = 0; i < output.length; i++) output[i] = values[i] ?? 0;
        };
      }
      case 'let': {
        const memory = this.#memory(node.value.type, level);
        const value = this.write(node.value, level, variables);
        const known = new Map([...variables, [node.name, memory]]);
        const body = this.write(node.body, level + 1, known);
        return (operands, output) => {
          value(operands, this.#first(memory, output.length));
          body(operands, output);
        };
      }
      default: {
        const { nodes, run } = arrayLoop(node);
        const reads = nodes.map((child, index) => this.#read(child, level + index, variables));
        return (operands, output) => {
          const count = output.length;
          run(output, ...reads.map((read) => read(operands, count)));
        };
      }
    }
  }

  #read(node: TypedExpression, level: number, variables: Variables): Read {
    if (node.kind === 'operand') return (operands) => operands[node.index] ?? EMPTY;
    if (node.kind === 'variable') {
      const values = variables.get(node.name);
      if (values === undefined) throw internalError(`a formula without ${node.name}`);
      return () => values;
    }
    if (node.kind === 'constant') {
      this.#hasConstants = true;
      const values = this.#newBlock(node.type).fill(node.value);
      return () => values;
    }
    const write = this.write(node, level, variables);
    const memory = this.#memory(node.type, level);
    return (operands, count) => {
      const values = this.#first(memory, count);
      write(operands, values);
      return values;
    };
  }

  #first(memory: NumberArray, count: number): NumberArray {
    return count === this.length ? memory : memory.subarray(0, count);
  }

  #memory(type: ScalarType, level: number): NumberArray {
    while (this.#levels.length <= level) this.#levels.push({});
    const arrays = this.#levels[level] ?? {};
    const memory = arrays[type] ?? this.#newBlock(type);
    arrays[type] = memory;
    return memory;
  }

  /** Floats keep the precision of doubles until they are stored, integers wrap. */
  #newBlock(type: ScalarType): NumberArray {
    switch (type) {
      case 'f32':
      case 'f64':
        return new Float64Array(this.length);
      case 'i32':
        return new Int32Array(this.length);
      case 'u32':
        return new Uint32Array(this.length);
      case 'bool':
        return new Uint8Array(this.length);
      case 'i64':
      case 'u64':
        throw internalError(`arrays of ${type}`);
      default:
        return type satisfies never;
    }
  }
}

const EMPTY = new Float64Array();
