// Imported by the programs that boot.mjs starts: they end when an old-Node launcher is killed (its channel closes), and
// the channel alone does not keep them running.
if (process.send) {
  process.on("disconnect", () => process.exit(1))
  process.channel?.unref()
}
