import { modelCache } from '../../client/index.ts';
import { describeError, formatBytes, formatMs } from '../../core/format-quantity.ts';
import { type Ocr, ocr, type PageText } from '../../tasks/index.ts';
import type { DemoContext, Section } from '../demo-context.ts';
import { describeDevice, requestedDevice } from '../open-session.ts';
import { byId, context2d, element } from '../element.ts';
import { describeMediaError, openCamera } from './describe-media-error.ts';

const FILES = {
  detection: './files/ppocr/detection.weft',
  recognition: './files/ppocr/recognition.weft',
  dictionary: './files/ppocr/dictionary.txt',
};
/** The longer side in which lines are looked for: the ticket has large letters, pictures of others may have small ones. */
const TICKET_EDGE = 224;
const LONGEST_EDGE = 1280;

type Drawable = HTMLCanvasElement | ImageBitmap;

/** Reads the text of a ticket by itself, then of the visitor's pictures, or of what the camera sees. */
export class PictureSection implements Section {
  readonly #context: DemoContext;
  readonly #still = byId('still', HTMLImageElement);
  readonly #canvas = byId('picture', HTMLCanvasElement);
  readonly #camera = byId('picture-camera', HTMLButtonElement);
  readonly #cancel = byId('picture-cancel', HTMLButtonElement);
  readonly #status = byId('picture-status', HTMLElement);
  readonly #text = byId('picture-text', HTMLElement);
  #watching: AbortController | undefined;
  #reading: AbortController | undefined;
  #reader: Promise<Ocr> | undefined;
  #edge = 0;
  /** Bytes of models that were fetched or read from where they are kept. */
  #modelBytes = 0;
  #isOpen = false;

  constructor(context: DemoContext) {
    this.#context = context;
    this.#camera.addEventListener('click', () => this.#toggleCamera());
    this.#cancel.addEventListener('click', () => this.#reading?.abort());
  }

  async open(): Promise<void> {
    this.#isOpen = true;
    if (this.#reader === undefined) await this.#readTicket();
    else await this.#showMachine();
  }

  close(): void {
    this.#isOpen = false;
    this.#watching?.abort();
  }

  take([file]: readonly File[]): void {
    this.#watching?.abort();
    const open = async (): Promise<Drawable> => createImageBitmap(file ?? new Blob());
    void this.#readOnce(open, LONGEST_EDGE);
  }

  /** The first result, and what it took to get there from the opening of the page. */
  async #readTicket(): Promise<void> {
    const kept = modelCache.list().catch(() => []);
    const page = await this.#readOnce(() => drawn(this.#still), TICKET_EDGE);
    if (page === undefined) return;
    byId('number-time', HTMLElement).replaceChildren(
      seconds(performance.now()),
      element('small', {}, 'after you opened this page'),
    );
    const wasKept = (await kept).some(({ url }) => url.endsWith('recognition.weft'));
    const resources = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
    const [opened] = performance.getEntriesByType('navigation') as PerformanceResourceTiming[];
    const own = [...resources, opened].reduce((sum, entry) => sum + (entry?.transferSize ?? 0), 0);
    byId('number-bytes', HTMLElement).replaceChildren(
      formatBytes(own + (wasKept ? 0 : this.#modelBytes)),
      element(
        'small',
        {},
        wasKept
          ? `the models, ${formatBytes(this.#modelBytes)}, were kept here`
          : 'with the models',
      ),
    );
  }

  /** Reads a picture; undefined where that failed or was cancelled, which the page says. */
  async #readOnce(open: () => Promise<Drawable>, edge: number): Promise<PageText | undefined> {
    this.#reading?.abort();
    const reading = new AbortController();
    const { signal } = reading;
    this.#reading = reading;
    this.#cancel.hidden = edge === TICKET_EDGE;
    try {
      const picture = await open();
      if (edge !== TICKET_EDGE && this.#watching === undefined) {
        this.#paint(picture, undefined);
        this.#text.replaceChildren();
        this.#say('Reading your picture on your device…');
      }
      const reader = await this.#readerFor(edge);
      const begin = performance.now();
      const page = await reader.read(picture, { signal });
      this.#paint(picture, page);
      this.#show(page, performance.now() - begin);
      await this.#showMachine();
      return page;
    } catch (error) {
      // Another picture may be read by now.
      if (this.#reading !== reading) return undefined;
      if (signal.aborted) this.#say('Cancelled.');
      else {
        this.#watching?.abort();
        this.#fail(describeError(error));
      }
      return undefined;
    } finally {
      if (this.#reading === reading) this.#cancel.hidden = true;
    }
  }

  /** Models that look for lines in pictures of this size; those of another size end. */
  #readerFor(edge: number): Promise<Ocr> {
    if (this.#edge === edge && this.#reader !== undefined) return this.#reader;
    const last = this.#reader;
    const reader = (async () => {
      await (await last?.catch(() => undefined))?.dispose();
      const device = requestedDevice();
      return ocr(FILES, { device, longestEdge: edge, onProgress: this.#count });
    })();
    [this.#edge, this.#reader] = [edge, reader];
    reader.catch(() => {
      if (this.#reader === reader) this.#reader = undefined;
    });
    return reader;
  }

  readonly #count: NonNullable<Parameters<typeof ocr>[1]>['onProgress'] = ({
    phase,
    loaded,
    total,
  }) => {
    if (phase === 'download' && loaded === 0) this.#modelBytes += total ?? 0;
  };

  async #showMachine(): Promise<void> {
    const { session } = (await this.#reader) ?? {};
    if (session === undefined) return;
    const { title } = describeDevice(session.device);
    byId('number-device', HTMLElement).replaceChildren(
      title,
      element('small', {}, 'where it is fastest here'),
    );
    if (!this.#isOpen) return;
    this.#context.showDevice(session.device);
    await this.#context.machine.show(session, 'PP-OCRv4, lines');
  }

  #toggleCamera(): void {
    if (this.#watching !== undefined) this.#watching.abort();
    else void this.#watch();
  }

  /** Reads what the camera sees, picture after picture, until it is stopped. */
  async #watch(): Promise<void> {
    const watching = new AbortController();
    const { signal } = watching;
    this.#watching = watching;
    this.#camera.textContent = 'Stop the camera';
    try {
      const takePicture = await openCamera(signal);
      while (!signal.aborted) await this.#readOnce(takePicture, LONGEST_EDGE);
    } catch (error) {
      if (!signal.aborted) {
        this.#fail(describeMediaError(error, 'camera', 'Open a picture instead.'));
      }
    } finally {
      watching.abort();
      this.#watching = undefined;
      this.#camera.textContent = 'Camera';
    }
  }

  #show({ lines, text }: PageText, elapsedMs: number): void {
    this.#text.replaceChildren(...lines.map((line) => element('li', {}, line.text)));
    const count = lines.length === 1 ? 'one line' : `${lines.length} lines`;
    const found = lines.length === 0 ? 'No text is in it' : `It says, in ${count}`;
    this.#say(`${found}; read in ${formatMs(elapsedMs)}:`);
    if (this.#watching === undefined && this.#edge !== TICKET_EDGE) {
      this.#context.announce(`It says: ${text}`);
    }
  }

  /** The picture, and a box around each line that was found. */
  #paint(picture: Drawable, page: PageText | undefined): void {
    const { width, height } = picture;
    [this.#canvas.width, this.#canvas.height] = [width, height];
    const context = context2d(this.#canvas);
    context.drawImage(picture, 0, 0);
    context.lineWidth = Math.max(3, width / 200);
    context.strokeStyle = getComputedStyle(this.#canvas).color;
    for (const { corners } of page?.lines ?? []) {
      context.beginPath();
      for (const [x, y] of corners) context.lineTo(x, y);
      context.closePath();
      context.stroke();
    }
    this.#canvas.hidden = false;
    this.#still.hidden = true;
  }

  #say(text: string): void {
    this.#status.dataset['kind'] = 'progress';
    this.#status.textContent = text;
  }

  #fail(text: string): void {
    this.#status.dataset['kind'] = 'error';
    this.#status.textContent = text;
  }
}

/** The elements of a picture of the page, which may be a drawing. */
async function drawn(picture: HTMLImageElement): Promise<HTMLCanvasElement> {
  await picture.decode();
  const { naturalWidth: width, naturalHeight: height } = picture;
  const canvas = element('canvas', { width, height });
  context2d(canvas).drawImage(picture, 0, 0, width, height);
  return canvas;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
