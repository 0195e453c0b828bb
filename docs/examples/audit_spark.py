"""Audits the parts of a log as Spark tasks, then merges them into one report.

    spark-submit docs/examples/audit_spark.py part-*.jsonl

Spark's `pipe` hands each task the name of its part; the task writes a state file beside it,
of a few megabytes at the most, whatever the number of rows. The report is, byte for byte, that of
`lpf audit part-*.jsonl`. LPF names the program if it is not on the path of the workers.
"""
import os
import shlex
import subprocess
import sys

from pyspark.sql import SparkSession

lpf = os.environ.get("LPF", "lpf")
parts = sys.argv[1:]
spark = SparkSession.builder.appName("lpf audit").getOrCreate()
audit_one = f"xargs -I PART {shlex.quote(lpf)} audit PART --partial PART.state"
spark.sparkContext.parallelize(parts, len(parts)).pipe(audit_one, checkCode=True).count()
spark.stop()
merged = subprocess.run([lpf, "audit", "--merge", *(f"{part}.state" for part in parts)])
sys.exit(merged.returncode)
