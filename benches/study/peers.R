# Results of other methods for the comparisons that study_splits drew:
#     Rscript benches/study/peers.R FOLDER
# Reads counts.csv and splits.csv of FOLDER, and writes peers.csv: for each comparison and method the
# smallest threshold at which it would report anything, or a slower target, with a minimum effect of 1
# and of 10 %. Needs edgeR (Debian: r-bioc-edger).
#
# - ratio: the share of a function's samples on one side divided by the share on the other, no test
# - t: Student's two-sample test of the shares of a function, by run; Bonferroni
# - edger: edgeR's quasi-likelihood F-test with its defaults, on self counts; Benjamini-Hochberg
# - edger_both: the same on self and on total counts, adjusted together, because sto tests both
suppressMessages(library(edgeR))
library(parallel)

folder <- commandArgs(TRUE)[1]
target <- "study_workload::score [study_workload]"
min_share <- 0.005 # of sto's defaults
min_mean <- 10     # samples a run, for a function to tell about variation; as in sto

table <- read.csv(file.path(folder, "counts.csv"), check.names = FALSE)
splits <- read.csv(file.path(folder, "splits.csv"), colClasses = c(split = "character"))
of_kind <- function(kind) {
  rows <- table[table$kind == kind, ]
  counts <- as.matrix(rows[, -(1:2)])
  rownames(counts) <- rows[["function"]]
  counts
}
all <- of_kind("n")[1, ]
self <- of_kind("a")
total <- of_kind("t")

# The functions that sto also tests.
tested <- function(counts, n, side) {
  share <- sapply(1:2, function(s) rowSums(counts[, side == s, drop = FALSE]) / sum(n[side == s]))
  rowSums(share) >= min_share & pmax(share[, 1], share[, 2]) >= min_share
}

least <- function(values) if (length(values)) min(values) else 1

scores <- function(threshold, change, target_rows) {
  any <- function(effect) least(threshold[abs(log(change)) > log1p(effect)])
  of_target <- function(effect) least(threshold[target_rows & change > 1 + effect])
  c(any(0.01), any(0.1), of_target(0.01), of_target(0.1))
}

by_share <- function(counts, n, side) {
  share <- sapply(1:2, function(s) rowSums(counts[, side == s, drop = FALSE]) / sum(n[side == s]))
  share[, 2] / share[, 1]
}

ratio_rule <- function(counts, n, side) {
  change <- by_share(counts, n, side)
  scores(exp(-abs(log(change))), change, rownames(counts) == target)
}

t_rule <- function(counts, n, side) {
  shares <- sweep(counts, 2, n, "/")
  a <- shares[, side == 1]
  b <- shares[, side == 2]
  df <- ncol(shares) - 2
  error <- sqrt((apply(a, 1, var) * (ncol(a) - 1) + apply(b, 1, var) * (ncol(b) - 1)) / df *
                (1 / ncol(a) + 1 / ncol(b)))
  p <- 2 * pt(-abs((rowMeans(b) - rowMeans(a)) / error), df)
  p <- pmin(1, p * nrow(shares))
  scores(p, rowMeans(b) / rowMeans(a), rownames(counts) == target)
}

edger <- function(counts, n, side, keep) {
  enough <- rowSums(counts) >= min_mean * ncol(counts)
  counts <- counts[enough, ]
  y <- calcNormFactors(DGEList(counts, lib.size = n, group = factor(side)))
  design <- model.matrix(~factor(side))
  test <- glmQLFTest(glmQLFit(estimateDisp(y, design), design), coef = 2)
  size <- n * y$samples$norm.factors
  change <- (rowSums(counts[, side == 2, drop = FALSE]) / sum(size[side == 2])) /
    (rowSums(counts[, side == 1, drop = FALSE]) / sum(size[side == 1]))
  keep <- keep[enough]
  data.frame(p = test$table$PValue, change, target = rownames(counts) == target)[keep, ]
}

judge <- function(row) {
  places <- function(column) as.integer(strsplit(as.character(column), " ")[[1]]) + 1
  baseline <- places(row$baseline)
  candidate <- places(row$candidate)
  runs <- c(baseline, candidate)
  side <- rep(1:2, c(length(baseline), length(candidate)))
  n <- all[runs]
  a <- self[, runs]
  keep <- tested(a, n, side)
  answers <- list(ratio = ratio_rule(a[keep, ], n, side))
  if (length(runs) > 2) {
    answers$t <- t_rule(a[keep, ], n, side)
    of_self <- edger(a, n, side, keep)
    b <- total[, runs]
    of_total <- edger(b, n, side, tested(b, n, side))
    both <- rbind(of_self, of_total)
    with_q <- function(tests) scores(p.adjust(tests$p, "BH"), tests$change, tests$target)
    answers$edger <- with_q(of_self)
    answers$edger_both <- with_q(both)
  }
  rows <- mapply(function(method, s) paste(c(row$split, method, signif(s, 6)), collapse = ","),
                 names(answers), answers)
  paste(rows, collapse = "\n")
}

lines <- mclapply(seq_len(nrow(splits)), function(i) judge(splits[i, ]), mc.cores = detectCores())
writeLines(c("split,method,any_1,any_10,target_1,target_10", unlist(lines)),
           file.path(folder, "peers.csv"))
