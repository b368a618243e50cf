import { UnsupportedError } from '../../core/errors.ts';
import { isGpuTexture } from '../../core/contracts/gpu-like.ts';
import type { PictureSource } from '../../core/pictures/picture-source.ts';
import { type Pixels, type Rgb, toRgb } from '../../core/pictures/pixels.ts';
import { drawsPictures, readDrawn } from '../../core/pictures/read-drawn.ts';
import type { HostedSession } from '../host/hosted-session.ts';

/** Who holds pictures. */
export interface PictureOwner {
  /** Pictures that it holds, by the numbers that the page chose. */
  readonly held: Map<number, WorkerPicture>;
  /** Undefined for a session on a remote device, whose pictures stay in the page. */
  readonly hosted: HostedSession | undefined;
}

/**
 * A picture of the page where its session is, or in the page for a session on a remote device. Its pixels are read when somebody asks
 * for them, once.
 */
export class WorkerPicture {
  readonly source: PictureSource;
  readonly #hosted: HostedSession | undefined;
  #pixels: Promise<Pixels> | undefined;
  #rgb: Promise<Rgb> | undefined;

  constructor(source: PictureSource, hosted: HostedSession | undefined) {
    this.source = source;
    this.#hosted = hosted;
  }

  /** True once pixels are read, or being read, into memory of the processor. */
  get isRead(): boolean {
    return this.#pixels !== undefined;
  }

  /** In RGB. Rejects with UnsupportedError where nothing draws pictures, or nothing reads textures of such a size. */
  pixels(): Promise<Rgb> {
    this.#rgb ??= this.read().then((pixels) => toRgb(pixels, 'picture'));
    return this.#rgb;
  }

  /** The same in as many channels as there are. */
  read(): Promise<Pixels> {
    this.#pixels ??= this.#read();
    return this.#pixels;
  }

  async #read(): Promise<Pixels> {
    const { source } = this;
    if ('data' in source) return source;
    if (isGpuTexture(source)) {
      if (this.#hosted === undefined) throw notThere();
      const { readTexture } = await import('./read-texture.ts');
      return readTexture(this.#hosted, source);
    }
    if (!drawsPictures()) {
      throw new UnsupportedError({
        where: 'picture',
        got: 'a worker without OffscreenCanvas',
        expected: 'one that draws pictures',
        remedy: 'Load the session with { worker: false }, or give { width, height, data }.',
      });
    }
    return readDrawn(source, source.width, source.height);
  }

  /** Frees a bitmap; textures stay the page's. */
  close(): void {
    if ('close' in this.source) this.source.close();
  }
}

function notThere(): UnsupportedError {
  return new UnsupportedError({
    where: 'GPUTexture',
    got: 'a session on a remote device',
    expected: 'one on the device of the texture',
  });
}
