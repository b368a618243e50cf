// Pictures that are no digits: discs on a sloping ground. What a network says of such a picture is a
// matter of its training, so ours learns it from a network that people know, mnist-cntk; the data
// sets beside that model are pictures of the kind and stay out of the training. Where ../shared with
// that model is missing, the network that there is teaches the next one.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Session, Tensor } from '../../../src/client/index.ts';

const IMAGE = 28;
const PEOPLES = fileURLToPath(
  new URL('../../../../shared/models/mnist-cntk/model.onnx', import.meta.url),
);
const OWN = fileURLToPath(new URL('../../../models/digits/model.onnx', import.meta.url));

export interface LabelledPicture {
  /** [28, 28] row-major, 0 to 1. */
  readonly image: Float32Array;
  /** The digit that the teacher sees. */
  readonly digit: number;
  /** Its ten scores around their mean. */
  readonly scores: Float32Array;
}

/** Scores of mnist-cntk lie hundreds apart on such pictures; those of our network want to be a few apart. */
const SCALE = 200;

/** Scores of a picture [28, 28], in the units that our network should learn. */
interface Teacher {
  score(image: Float32Array): Promise<number[]>;
  dispose(): Promise<void>;
}

async function openTeacher(): Promise<Teacher> {
  const isPeoples = existsSync(PEOPLES);
  const file = isPeoples ? PEOPLES : OWN;
  console.log(`teacher: ${file}`);
  const session = await Session.load(readFileSync(file), { device: 'host', worker: false });
  const [input = { name: '' }] = session.inputs;
  return {
    async score(image) {
      const pixels = isPeoples ? image.map((value) => 255 * value) : image;
      const tensor = new Tensor('float32', pixels, [1, 1, IMAGE, IMAGE]);
      const [result] = Object.values(await session.run({ [input.name]: tensor }));
      const values = Array.from(result?.data ?? [], Number);
      // Ours gives probabilities, whose logarithms are its scores but for a constant.
      return values.map((value) => (isPeoples ? value / SCALE : Math.log(Math.max(value, 1e-30))));
    },
    dispose: () => session.dispose(),
  };
}

/** Draws pictures and asks the teacher what they show. About 2 ms each. */
export async function labelledPictures(
  count: number,
  random: () => number,
): Promise<LabelledPicture[]> {
  const teacher = await openTeacher();
  const pictures: LabelledPicture[] = [];
  for (let i = 0; i < count; i++) {
    const image = greyPicture(random);
    const values = await teacher.score(image);
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const scores = Float32Array.from(values, (value) => value - mean);
    pictures.push({ image, digit: values.indexOf(Math.max(...values)), scores });
  }
  await teacher.dispose();
  return pictures;
}

/** A ground that slopes, two to seven discs of one grey each, and noise; [28, 28], 0 to 1. */
function greyPicture(random: () => number): Float32Array {
  const between = (low: number, high: number): number => low + random() * (high - low);
  const level = between(0.35, 0.65);
  const slopes = [between(-0.35, 0.35), between(-0.35, 0.35)] as const;
  const discs = Array.from({ length: 2 + Math.floor(random() * 6) }, () => ({
    x: between(0, IMAGE),
    y: between(0, IMAGE),
    radius: between(1.5, 8),
    grey: between(0.05, 0.95),
    slope: between(-0.15, 0.15),
  }));
  const image = new Float32Array(IMAGE * IMAGE);
  for (let y = 0; y < IMAGE; y++) {
    for (let x = 0; x < IMAGE; x++) {
      let value = level + slopes[0] * (x / IMAGE - 0.5) + slopes[1] * (y / IMAGE - 0.5);
      for (const disc of discs) {
        const inside = (x - disc.x) ** 2 + (y - disc.y) ** 2 <= disc.radius ** 2;
        if (inside) value = disc.grey + disc.slope * (x / IMAGE - 0.5);
      }
      image[y * IMAGE + x] = Math.min(1, Math.max(0, value + between(-0.016, 0.016)));
    }
  }
  return image;
}
