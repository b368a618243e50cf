/**
 * Resolves in a later task of the event loop, so that messages, timers and other sessions get
 * their turn. A timer would wait at least 4 ms when nested.
 */
export function macrotask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(null);
  });
}
