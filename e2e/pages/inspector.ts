import { Session } from '../../src/client/index.ts';
import type { DeviceKind } from '../../src/worker/protocol/loaded-session.ts';
import { defineInspector } from '../../src/inspector/index.ts';
import { connect, createToken, messagePortChannel, serve } from '../../src/rpc/index.ts';
import { createDevice } from '../../src/worker/index.ts';
import { deepProgram } from '../../src/inspector/testing/deep-program.ts';

defineInspector();

function inspector() {
  const shown = document.querySelector('weft-inspector');
  if (shown === null) throw new Error('no inspector');
  return shown;
}

/** The page's interface to the tests. */
const page = {
  /** A new inspector takes the place of the last one. */
  begin(): void {
    document.querySelector('main')?.replaceChildren(document.createElement('weft-inspector'));
  },

  /** Shows a program of so many kernels. Resolves to its nodes and the milliseconds of its layout. */
  async showDeep(kernelCount: number): Promise<{ nodes: number; layoutMs: number; ms: number }> {
    const executable = deepProgram(kernelCount).toBytes();
    performance.mark('show');
    const begin = performance.now();
    await inspector().show({ executable, title: 'A deep program' });
    const ms = performance.now() - begin;
    const { graph } = inspector();
    return { nodes: graph?.nodes.length ?? 0, layoutMs: graph?.layoutMs ?? Infinity, ms };
  },

  /** Shows a program on a device, run by a session. */
  async showSession(kernelCount: number, device: DeviceKind): Promise<string> {
    const session = await Session.load(deepProgram(kernelCount).toBytes(), { device });
    await inspector().show({ session });
    return session.device.kind;
  },

  /** Shows a program on a device that another part of the page lends. */
  async showLent(kernelCount: number, device: DeviceKind): Promise<string> {
    const token = createToken();
    const { port1, port2 } = new MessageChannel();
    const devices = [await createDevice(device, device === 'webgpu' ? navigator.gpu : undefined)];
    serve(messagePortChannel(port1), { devices, token });
    const remote = await connect(messagePortChannel(port2), { token });
    const session = await Session.load(deepProgram(kernelCount).toBytes(), { remote, device });
    await inspector().show({ session });
    return session.device.kind;
  },

  /** Shows an ONNX model, run by a session on the host, with what it was compiled from. */
  async showModel(bytes: readonly number[]): Promise<void> {
    const model = Uint8Array.from(bytes);
    const session = await Session.load(model, { device: 'host' });
    await inspector().show({ session, compiledFrom: { model } });
  },

  /** The error with which `show` rejects. */
  async failure(): Promise<string> {
    const shownIt = inspector().show({ executable: Uint8Array.of(1, 2, 3) });
    return shownIt.then(
      () => 'shown',
      (error: unknown) => String(error),
    );
  },

  /**
   * Drags the graph on as a hand does, a step in each frame, up and down and from side to side. Each frame is marked
   * for a trace, and the most nodes that one has drawn is returned.
   */
  async pan(frameCount: number, zoomedOut: boolean): Promise<{ mostNodes: number }> {
    const canvas = inspector().graph?.canvas;
    if (canvas === undefined) throw new Error('no graph');
    if (zoomedOut) {
      for (let i = 0; i < 14; i++) canvas.dispatchEvent(new KeyboardEvent('keydown', { key: '-' }));
    }
    let mostNodes = 0;
    for (let frame = 0; frame < frameCount; frame++) {
      await new Promise(requestAnimationFrame);
      performance.mark(`pan-${frame}`);
      const deltaX = 12 * Math.cos(frame / 7);
      canvas.dispatchEvent(new WheelEvent('wheel', { deltaX, deltaY: 90, cancelable: true }));
      mostNodes = Math.max(mostNodes, inspector().graph?.drawn.nodes ?? 0);
    }
    return { mostNodes };
  },
};

page.begin();

export type InspectorPage = typeof page;
Object.assign(globalThis, { weftInspector: page });
document.documentElement.dataset['ready'] = '';
