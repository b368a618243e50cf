import type { Profile, Session, Tensor } from '../../client/index.ts';

/** A network that reads digits: the one that comes with the page, or the one trained in it. */
export interface DigitReader {
  readonly session: Session;
  /** The executable's name. */
  readonly title: string;
  /** Probabilities [10] of an image [1, 1, 28, 28]. */
  read(image: Tensor): Promise<Float32Array>;
  /** Does the same as `read`, and tells what each kernel took. */
  profile(image: Tensor): Promise<Profile>;
}
