import type { SessionDevice } from '../client/index.ts';
import type { DemoContext, Section } from './demo-context.ts';
import { DrawSection } from './draw-section.ts';
import { describeDevice } from './describe-device.ts';
import { byId, element, select } from './element.ts';
import { FlowDiagram } from './flow-diagram.ts';
import { describeError } from './format-quantity.ts';
import { GallerySection } from './gallery-section.ts';
import { MachineView } from './machine-view.ts';
import { requestedDevice } from './open-session.ts';
import { SimulateSection } from './simulate-section.ts';
import { StorySection } from './story-section.ts';
import { setUpTabs } from './tabs.ts';
import { TrainSection } from './train-section.ts';

const notice = byId('notice', HTMLElement);
const live = byId('live', HTMLElement);
const flow = new FlowDiagram(byId('flow', HTMLElement));

const context: DemoContext = {
  machine: new MachineView(byId('machine', HTMLElement)),
  flow,
  announce(text) {
    live.textContent = text;
  },
  fail(error) {
    showNotice(describeError(error), 'error');
  },
  showDevice,
};

const draw = new DrawSection(context);
const sections: Readonly<Record<string, Section>> = {
  draw,
  train: new TrainSection(context, (reader) => draw.offer(reader)),
  story: new StorySection(context),
  simulate: new SimulateSection(context),
  gallery: new GallerySection(context),
};
let current: Section | undefined;

setUpTabs(select(document, '[role="tablist"]'), (panelId) => {
  const chosen = sections[panelId];
  if (chosen === undefined || chosen === current) return;
  current?.close();
  current = chosen;
  chosen.open().catch((error: unknown) => context.fail(error));
});

function showNotice(text: string, kind: 'info' | 'error'): void {
  notice.dataset['kind'] = kind;
  notice.textContent = text;
  notice.hidden = false;
}

function showDevice(device: SessionDevice, { isFastest = false } = {}): void {
  flow.showDevice(device);
  const { name } = describeDevice(device);
  const asked = requestedDevice();
  if (device.kind !== 'webgpu' && asked === 'auto' && !isFastest) {
    showNotice(
      `No WebGPU here, so everything runs on ${name}: on the CPU in the worker, only slower. ` +
        `The reason: ${device.fallbackReason ?? device.reason}`,
      'info',
    );
  }
  byId('device-switch', HTMLElement).replaceChildren(
    `Running on ${name}; `,
    ...(asked === 'auto'
      ? [
          'try ',
          link('?device=wasm', 'WebAssembly'),
          ' or ',
          link('?device=host', 'the host device'),
        ]
      : [link(location.pathname, 'choose the best device')]),
    '.',
  );
}

function link(href: string, text: string): HTMLElement {
  return element('a', { href }, text);
}
