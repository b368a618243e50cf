import { variable } from '../../compiler/ir/build.ts';
import type { Expr, VarExpr } from '../../compiler/ir/expr.ts';
import type { DType } from '../../core/tensor/dtype.ts';
import type { OnnxNode } from './importers.ts';

/** A node that is imported, and where it is computed. */
interface AdaptedNode extends OnnxNode {
  readonly block: { readonly isAlwaysReached: boolean };
  scalar(value: number, dtype?: DType): Expr;
}

/** Low-rank matrices beside a matrix of a model. */
export interface Adapter {
  /** (depth, rank) and (rank, columns). */
  readonly down: VarExpr;
  readonly up: VarExpr;
  /** The factor by which the product of both is multiplied. */
  readonly scale: number;
  /** True if the model holds the matrix as (columns, depth). */
  readonly isTransposed: boolean;
  /** True if the model holds the matrix as floats, to which the product can be added. */
  readonly isMergeable: boolean;
}

/** A product of a model with a matrix at its second input. */
interface Product {
  /** Its other operand, (…, depth). */
  readonly x: Expr;
  readonly depth: number;
  readonly columns: number;
  readonly isTransposed: boolean;
  readonly isMergeable: boolean;
  readonly alpha: number;
}

/**
 * Puts adapters beside matrices (Hu et al. 2021, "LoRA: low-rank adaptation of large language models"): a product
 * `x W` becomes `x W + scale (x A) B`, in which W stays as it is.
 */
export class ImportAdapters {
  readonly byMatrix = new Map<string, Adapter>();
  readonly #rank: number;
  readonly #scale: number;
  readonly #isAdapted: (name: string) => boolean;

  constructor(
    { rank, alpha = rank }: { readonly rank: number; readonly alpha?: number | undefined },
    isAdapted: (name: string) => boolean,
  ) {
    this.#rank = rank;
    this.#scale = alpha / rank;
    this.#isAdapted = isAdapted;
  }

  /** The results of a node with those of an adapter, if its matrix has one. Throws UnsupportedError in loops. */
  adapt(
    node: AdaptedNode,
    matrix: string,
    results: readonly (Expr | undefined)[],
  ): readonly (Expr | undefined)[] | undefined {
    const read = PRODUCTS[node.opType];
    const [result, ...others] = results;
    if (read === undefined || result === undefined || !this.#isAdapted(matrix)) return undefined;
    if (!node.block.isAlwaysReached) {
      throw node.unsupported('an adapter in a branch or a loop', 'a product of the main graph');
    }
    const product = read(node);
    const { down, up } = this.#adapter(matrix, product);
    const { dtype } = node.type(product.x);
    const own = (factor: VarExpr) =>
      dtype === 'float32' ? factor : node.call('cast', [factor], { to: dtype });
    const low = node.call('matmul', [product.x, own(down)]);
    const beside = node.call('matmul', [low, own(up)]);
    const factor = node.scalar(this.#scale * product.alpha, dtype);
    return [node.call('add', [result, node.call('mul', [beside, factor])]), ...others];
  }

  #adapter(matrix: string, { depth, columns, isTransposed, isMergeable }: Product): Adapter {
    const known = this.byMatrix.get(matrix);
    if (known !== undefined) return known;
    const made = {
      down: variable(`${matrix}.lora_a`, 'float32', [depth, this.#rank]),
      up: variable(`${matrix}.lora_b`, 'float32', [this.#rank, columns]),
      scale: this.#scale,
      isTransposed,
      isMergeable,
    };
    this.byMatrix.set(matrix, made);
    return made;
  }
}

/** The products that take adapters, by ONNX's names. */
const PRODUCTS: Readonly<Record<string, (node: AdaptedNode) => Product>> = {
  MatMul(node) {
    const [depth, columns] = matrixSizes(node);
    const x = node.input(0);
    return { x, depth, columns, isTransposed: false, isMergeable: true, alpha: 1 };
  },
  Gemm(node) {
    const isTransposed = node.attributes.bool('transB');
    const [rows, width] = matrixSizes(node);
    const a = node.input(0);
    const turns = node.attributes.bool('transA');
    return {
      x: turns ? node.call('transpose', [a], { perm: [1, 0] }) : a,
      depth: isTransposed ? width : rows,
      columns: isTransposed ? rows : width,
      isTransposed,
      isMergeable: true,
      alpha: node.attributes.float('alpha', 1),
    };
  },
  MatMulNBits: (node) => ({
    x: node.input(0),
    depth: node.attributes.int('K', 0),
    columns: node.attributes.int('N', 0),
    isTransposed: true,
    isMergeable: false,
    alpha: 1,
  }),
};

function matrixSizes(node: AdaptedNode): readonly [number, number] {
  const [rows, columns, ...more] = node.shape(node.input(1));
  if (typeof rows === 'number' && typeof columns === 'number' && more.length === 0) {
    return [rows, columns];
  }
  throw node.unsupported('an adapter beside a tensor that is no matrix', 'rank 2');
}
