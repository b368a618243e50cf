import type { Size } from './picture-options.ts';
import type { PicturePlan } from './picture-plan.ts';

/** Where a picture lies in a tensor, for what a model says about places in it. */
export class PicturePlace {
  /** The size of the picture itself. */
  readonly source: Size;
  /** The size of the picture that the model got, without the zeros of `pad`. */
  readonly size: Size;
  /** The size of that with the zeros of `pad`: rows and columns of the tensor. */
  readonly whole: Size;
  readonly #plan: PicturePlan;

  /** @internal */
  constructor(source: Size, plan: PicturePlan) {
    this.source = source;
    this.size = { width: plan.frame.width, height: plan.frame.height };
    this.whole = plan.padded;
    this.#plan = plan;
  }

  /** A point of the model's picture in pixels as a point of the picture itself, which may lie outside of it. */
  toSource(x: number, y: number): readonly [x: number, y: number] {
    const { frame, resized } = this.#plan;
    return [
      ((x - frame.left) / resized.width) * this.source.width,
      ((y - frame.top) / resized.height) * this.source.height,
    ];
  }

  /** A point of the picture itself as a point of the model's picture, in which it may not lie. */
  fromSource(x: number, y: number): readonly [x: number, y: number] {
    const { frame, resized } = this.#plan;
    return [
      (x / this.source.width) * resized.width + frame.left,
      (y / this.source.height) * resized.height + frame.top,
    ];
  }
}
