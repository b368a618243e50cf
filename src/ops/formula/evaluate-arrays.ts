import { internalError } from '../../core/errors.ts';
import type { NumberArray } from '../define-op.ts';
import { arrayLoop } from './array-loops.ts';
import type { Formula, FormulaCall } from './expression.ts';
import { type TypedExpression, typedFormula } from './infer-types.ts';
import type { ScalarType } from './scalar-type.ts';

/**
 * Computes whole arrays of equal length, of dtypes that JavaScript numbers hold. The output may be one
 * of the operands.
 */
export type ArrayFunction = (operands: readonly NumberArray[], output: NumberArray) => void;

/** Elements per block: what nodes of a formula leave for each other fits the nearer caches. */
const BLOCK = 2048;

/**
 * A loop for each node of the formula, block by block. Not to be called while it runs: its blocks are
 * made once.
 */
export function arrayFunction(formula: Formula, call: FormulaCall): ArrayFunction {
  const blocks = new Blocks();
  const write = blocks.write(typedFormula(formula, call), 0, new Map());
  return (operands, output) => {
    if (blocks.isEmpty || output.length <= BLOCK) {
      write(operands, output);
      return;
    }
    for (let start = 0; start < output.length; start += BLOCK) {
      const end = Math.min(start + BLOCK, output.length);
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
  readonly #levels: Partial<Record<ScalarType, NumberArray>>[] = [];
  #hasConstants = false;

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
          value(operands, memory.subarray(0, output.length));
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
      const values = newBlock(node.type).fill(node.value);
      return () => values;
    }
    const write = this.write(node, level, variables);
    const memory = this.#memory(node.type, level);
    return (operands, count) => {
      const values = count === BLOCK ? memory : memory.subarray(0, count);
      write(operands, values);
      return values;
    };
  }

  #memory(type: ScalarType, level: number): NumberArray {
    while (this.#levels.length <= level) this.#levels.push({});
    const arrays = this.#levels[level] ?? {};
    const memory = arrays[type] ?? newBlock(type);
    arrays[type] = memory;
    return memory;
  }
}

const EMPTY = new Float64Array();

/** Floats keep the precision of doubles until they are stored, integers wrap. */
function newBlock(type: ScalarType): NumberArray {
  switch (type) {
    case 'f32':
    case 'f64':
      return new Float64Array(BLOCK);
    case 'i32':
      return new Int32Array(BLOCK);
    case 'u32':
      return new Uint32Array(BLOCK);
    case 'bool':
      return new Uint8Array(BLOCK);
    case 'i64':
    case 'u64':
      throw internalError(`arrays of ${type}`);
    default:
      return type satisfies never;
  }
}
