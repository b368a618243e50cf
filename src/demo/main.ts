import type { SessionDevice } from '../client/index.ts';
import type { DemoContext, Section } from './demo-context.ts';
import { DrawSection } from './draw-section.ts';
import { byId, element, select } from './element.ts';
import { FlowDiagram } from './flow-diagram.ts';
import { describeError } from './format-quantity.ts';
import { GallerySection } from './gallery-section.ts';
import { MachineView } from './machine-view.ts';
import { requestedDevice } from './open-session.ts';
import { SimulateSection } from './simulate-section.ts';
import { setUpTabs } from './tabs.ts';

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

const sections: Readonly<Record<string, Section>> = {
  draw: new DrawSection(context),
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

function showDevice(device: SessionDevice): void {
  flow.showDevice(device);
  const isHost = device.kind === 'host';
  const asked = requestedDevice();
  if (isHost && asked === 'auto') {
    const reason = device.fallbackReason ?? 'the browser gives no adapter';
    showNotice(
      'No WebGPU here, so everything runs on the host device: on the CPU in the worker, ' +
        `only slower. The reason: ${reason}`,
      'info',
    );
  }
  const name = isHost ? 'the host device' : device.name;
  const search = asked === 'auto' ? '?device=host' : location.pathname;
  const other = asked === 'auto' ? 'try the host device' : 'choose the best device';
  byId('device-switch', HTMLElement).replaceChildren(
    `Running on ${name}; `,
    element('a', { href: search }, other),
    '.',
  );
}
